/**
 * The tools as the commands see them, whether through the running gateway or
 * through one that is started for the command. Both end in the same governed
 * call.
 */

import type { ToolHit, ToolSummary } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";

/** A tool with everything that is known of it. */
export interface ToolDescription extends ToolSummary {
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

/** A server or toolspec behind the tools. */
export interface ServerState {
  readonly id: string;
  readonly kind: "server" | "toolspec";
  /** Its tools are there when this is `ready`. */
  readonly state: string;
  readonly reason?: string;
}

/** How a call is made. */
export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Take progress (`progress`, `total`, `message`). @default nobody asks for it */
  readonly onProgress?: (params: JsonObject) => void;
}

/** A way to the tools. Disposing it ends what was started for it. */
export interface ToolAccess extends AsyncDisposable {
  /** URL of the running gateway; `undefined` when the servers run for this command only. */
  readonly gatewayUrl: string | undefined;
  /** All tools that may be seen. */
  list(): Promise<readonly ToolSummary[]>;
  /** Hits, best first. @param limit 1 to 50. */
  search(query: string, limit: number): Promise<readonly ToolHit[]>;
  /** A tool by `ToolId` or wire name; `undefined` when there is none. */
  describe(name: string): Promise<ToolDescription | undefined>;
  /**
   * Call a tool by `ToolId` or wire name. A tool that answers with an error is
   * a result with `isError`.
   *
   * @throws {CodedError} when the call was denied or failed; the code is the gateway's.
   */
  call(name: string, args: JsonObject, options: ToolCallOptions): Promise<ToolResult>;
  /** The servers and where they stand at this moment. */
  servers(): Promise<readonly ServerState[]>;
}
