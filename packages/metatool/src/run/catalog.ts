/**
 * What a composite can call: the tools that its caller may call, as the gateway
 * tells it, and how they are called. The metatool never calls a source itself:
 * every inner call is a governed call of its own, with its parent on record.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, Identity, ToolAnnotations, ToolId, ToolResult } from "@toolcrib/tool";

/** One tool of the catalogue. */
export interface CatalogTool {
  readonly id: ToolId;
  /** What stands before the dot: `github` of `github.searchIssues`. Empty for Toolcrib's own tools and local ones without a namespace. */
  readonly namespace: string;
  /** Its source's own name for it. */
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
  /** Labels of the server it belongs to. */
  readonly labels: Readonly<Record<string, string>>;
  /** Hosts that its server is known to talk to; absent where nothing is known. */
  readonly egressHosts?: readonly string[];
}

/** The tools that one identity may call, hidden ones included. */
export interface Catalog {
  /** Changes whenever `tools` does. */
  readonly generation: number;
  readonly tools: readonly CatalogTool[];
}

/** What the metatool needs of the gateway. */
export interface MetatoolHost {
  /** What `identity` may call now. The same object until something changes. */
  catalog(identity: Identity): Catalog;
  /**
   * Run a tool on account of the call `context`, one level deeper.
   *
   * @throws {CodedError} when it does not exist, is denied, or the operation failed; a tool that failed is a result with `isError`.
   */
  callTool(context: CallContext, id: ToolId, args: JsonObject): Promise<ToolResult>;
  /** Whether a tool of this name exists for anyone, so that a saved tool may not take it. Saved tools do not count. */
  isNameTaken(name: string): boolean;
}
