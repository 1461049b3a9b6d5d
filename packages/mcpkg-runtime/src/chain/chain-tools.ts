/**
 * Checks the tools of a chain before its first step: that all of them exist, that no chain leads
 * back to itself, and that it is not too deep or too long. Pure, but for the functions that it is given.
 */

import type { JsonObject } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { McpkgRuntimeError } from "../runtime-error.ts";

/** The steps of a chain. */
export type Chain = NonNullable<Manifest["chain"]>;

/** A tool that a step can call. */
export interface ChainTool {
  /** The source of the tool: the toolId of a package. A tool has several names, and one source. */
  readonly source: string;
  readonly inputSchema: JsonObject;
}

/** The tools around a chain. */
export interface ChainTools {
  /** Finds a tool for the caller of the chain; undefined where it does not exist for it. */
  find(name: string): ChainTool | undefined;
  /** Returns the chain of an installed package; undefined for every other source. */
  chainOf(source: string): Chain | undefined;
}

/** Greatest number of chains within each other. @limit program */
const nestedMaxCount = 8;
/** Greatest number of steps, those of chains that are steps included. @limit program */
const stepsMaxCount = 256;

/**
 * Returns the tools of the steps, in their order.
 *
 * @throws {McpkgRuntimeError} `PACKAGE_CHAIN_INVALID`
 */
export function chainTools(toolId: string, chain: Chain, tools: ChainTools): readonly ChainTool[] {
  const found = chain.map(({ tool }) => tools.find(tool));
  const missing = chain.flatMap(({ step, tool }, at) =>
    found[at] === undefined ? [`"${tool}" (step "${step}")`] : [],
  );
  if (missing.length > 0) {
    const what = missing.length === 1 ? "a tool that does not exist" : "tools that do not exist";
    throw new McpkgRuntimeError(
      "PACKAGE_CHAIN_INVALID",
      `The chain "${toolId}" was not started: it needs ${what} here: ${missing.join(", ")}`,
      { hint: "install the packages of these tools, and check that they are ready: toolcrib status" },
    );
  }
  const all = found.filter((tool) => tool !== undefined);
  new ChainWalk(toolId, tools).visit(all, [toolId]);
  return all;
}

class ChainWalk {
  readonly #toolId: string;
  readonly #tools: ChainTools;
  #steps = 0;

  constructor(toolId: string, tools: ChainTools) {
    this.#toolId = toolId;
    this.#tools = tools;
  }

  /** @param path the chains around this one, it included */
  visit(steps: readonly ChainTool[], path: readonly string[]): void {
    for (const { source } of steps) {
      this.#steps += 1;
      if (this.#steps > stepsMaxCount) throw this.#invalid(`it has more than ${stepsMaxCount} steps`);
      if (path.includes(source)) {
        throw this.#invalid(`it leads back to itself: ${[...path, source].join(" → ")}`);
      }
      const inner = this.#tools.chainOf(source);
      if (inner === undefined) continue;
      if (path.length >= nestedMaxCount) {
        throw this.#invalid(`it has more than ${nestedMaxCount} chains within each other`);
      }
      // Its own call reports the tools that it lacks.
      const found = inner.flatMap(({ tool }) => this.#tools.find(tool) ?? []);
      this.visit(found, [...path, source]);
    }
  }

  #invalid(reason: string): McpkgRuntimeError {
    const message = `The chain "${this.#toolId}" was not started: ${reason}`;
    return new McpkgRuntimeError("PACKAGE_CHAIN_INVALID", message, {
      hint: "report it to the publisher of the package",
    });
  }
}
