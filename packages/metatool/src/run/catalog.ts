/**
 * The tools that a composite can call: those that its caller may call, as the
 * gateway provides them. The metatool never calls a source itself: every inner call
 * is a governed call, whose record names its parent.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, Identity, ToolAnnotations, ToolId, ToolResult } from "@toolcrib/tool";

/** One tool of the catalogue. */
export interface CatalogTool {
  readonly id: ToolId;
  /** The part before the dot: `github` of `github.searchIssues`. Empty for the tools of Toolcrib and local tools without a namespace. */
  readonly namespace: string;
  /** Its name in its source. */
  readonly name: string;
  /** Its name on the wire of `/mcp`. */
  readonly wireName: string;
  /**
   * Whether it is a saved tool: programs find it in the namespace `saved`, its
   * arguments are coerced, and its result contains what its program returned.
   */
  readonly isComposite: boolean;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Labels of its server. */
  readonly labels: Readonly<Record<string, string>>;
  /** Hosts that its server is known to access; absent when they are unknown. */
  readonly egressHosts?: readonly string[];
}

/** The tools that one identity may call, including hidden ones. */
export interface Catalog {
  /** Changes with every change of `tools`. */
  readonly generation: number;
  readonly tools: readonly CatalogTool[];
  /** Returns why a tool or namespace that exists is not among `tools`, such as a server that is not ready. @default nothing is known */
  explain?(name: string): string | undefined;
}

/** The gateway, as the metatool uses it. */
export interface MetatoolHost {
  /** Returns the tools that `identity` may call now. The same object until something changes. */
  catalog(identity: Identity): Catalog;
  /**
   * Waits until the tools that the program `code` can use are known, for a limited time: sources can be starting.
   *
   * @returns undefined when there is nothing to wait for.
   * @throws {CodedError} when the call may not be made any more after the wait
   */
  untilListed?(context: CallContext, code: string): Promise<unknown> | undefined;
  /**
   * Makes an inner call of the call `context`, one level deeper.
   *
   * @throws {CodedError} when it does not exist, is denied, or the operation failed; a tool that failed is a result with `isError`.
   */
  callTool(context: CallContext, id: ToolId, args: JsonObject): Promise<ToolResult>;
  /**
   * Returns whether a tool other than a saved one has this name.
   *
   * @param identity whose view of the servers decides about their names; undefined leaves those out
   */
  isNameTaken(name: string, identity: Identity | undefined): boolean;
}
