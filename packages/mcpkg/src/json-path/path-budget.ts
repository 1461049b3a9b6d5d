/** Limits of one evaluation of a JSONPath. The clock is a parameter. */

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
}

/** Steps between two readings of the clock. */
const stepsPerReading = 4096;

/** What is left of the limits. */
export class PathBudget {
  readonly #path: string;
  readonly #nodesMaxCount: number;
  readonly #stepsMaxCount: number;
  readonly #timeoutMs: number;
  readonly #now: (() => number) | undefined;
  readonly #startMs: number;
  #steps = 0;
  #nextReading = stepsPerReading;

  constructor(path: string, limits: PathLimits) {
    this.#path = path;
    this.#nodesMaxCount = limits.nodesMaxCount ?? 100_000;
    this.#stepsMaxCount = limits.stepsMaxCount ?? 5_000_000;
    this.#timeoutMs = limits.timeoutMs ?? 2000;
    this.#now = limits.now;
    this.#startMs = this.#now?.() ?? 0;
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
    if (count > this.#nodesMaxCount) throw this.exceeded(`more than ${this.#nodesMaxCount} nodes`);
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
