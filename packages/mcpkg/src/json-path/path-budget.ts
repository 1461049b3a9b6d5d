/** Limits of evaluations of JSONPaths: of one, or of several together. The clock is a parameter. */

import { McpkgError } from "../mcpkg-error.ts";

/** Limits of an evaluation. */
export interface PathLimits {
  /** Most nodes in a list of nodes, intermediate ones too. @default 100,000 */
  readonly nodesMaxCount?: number;
  /** Most steps: nodes visited, values compared, and work of patterns. A second or so. @default 5,000,000 */
  readonly stepsMaxCount?: number;
  /** Longest time in milliseconds; only with `now`. @default 2,000 */
  readonly timeoutMs?: number;
  /** Clock in milliseconds. @default none, so that steps alone limit the time */
  readonly now?: () => number;
  /** The use of these limits by other evaluations; this one adds to it. @default nothing */
  readonly used?: PathUse;
}

/** The use of all evaluations together. Time between them does not count. */
export class PathUse {
  /** Nodes that were selected. */
  nodes = 0;
  steps = 0;
  ms = 0;
}

/** Steps between two readings of the clock. */
const stepsPerReading = 4096;

/** The rest of the limits. */
export class PathBudget {
  readonly #path: string;
  readonly #nodesMaxCount: number;
  readonly #stepsMaxCount: number;
  readonly #timeoutMs: number;
  readonly #now: (() => number) | undefined;
  readonly #startMs: number;
  readonly #used: PathUse;
  #steps: number;
  #nextReading: number;

  constructor(path: string, limits: PathLimits) {
    this.#path = path;
    this.#nodesMaxCount = limits.nodesMaxCount ?? 100_000;
    this.#stepsMaxCount = limits.stepsMaxCount ?? 5_000_000;
    this.#timeoutMs = limits.timeoutMs ?? 2000;
    this.#now = limits.now;
    this.#used = limits.used ?? new PathUse();
    this.#steps = this.#used.steps;
    // Many short evaluations read the clock, too.
    this.#nextReading = this.#steps + (limits.used === undefined ? stepsPerReading : 1);
    this.#startMs = (this.#now?.() ?? 0) - this.#used.ms;
  }

  /** Adds what this evaluation used, successful or not. @param selected nodes in its result */
  finish(selected: number): void {
    this.#used.steps = this.#steps;
    this.#used.nodes += selected;
    this.#used.ms = (this.#now?.() ?? 0) - this.#startMs;
  }

  /** Uses `steps`. @throws {McpkgError} `MCPKG_JSON_PATH_LIMIT` when fewer are left, or the time is over. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#stepsMaxCount) throw this.exceeded(`more than ${this.#stepsMaxCount} steps`);
    if (this.#now === undefined || this.#steps < this.#nextReading) return;
    this.#nextReading = this.#steps + stepsPerReading;
    if (this.#now() - this.#startMs > this.#timeoutMs) throw this.exceeded(`more than ${this.#timeoutMs} ms`);
  }

  /** Checks the length of a list of nodes. @throws {McpkgError} `MCPKG_JSON_PATH_LIMIT` */
  checkNodes(count: number): void {
    if (count + this.#used.nodes > this.#nodesMaxCount)
      throw this.exceeded(`more than ${this.#nodesMaxCount} nodes`);
  }

  /** The error for a limit. */
  exceeded(what: string): McpkgError {
    return new McpkgError(
      "MCPKG_JSON_PATH_LIMIT",
      `The JSONPath "${this.#path.slice(0, 200)}" needs ${what}`,
      {
        hint: "name the members on the way instead of searching at all depths, or shorten the pattern",
      },
    );
  }
}
