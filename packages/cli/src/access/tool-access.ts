/**
 * The interface of commands to the tools, through the running gateway or through
 * a gateway that is started for the command. Both use the same governed call.
 */

import { type CodedError, isCodedError } from "@toolcrib/diagnostics";
import type { ToolHit, ToolSummary } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";

/** A tool with its schemas and annotations. */
export interface ToolDescription extends ToolSummary {
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Those by which the gateway treats it. */
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
}

/** The state of a server or toolspec. */
export interface ServerState {
  readonly id: string;
  readonly kind: "server" | "toolspec" | "package";
  /** Its tools are available in the state `ready`. */
  readonly state: string;
  readonly reason?: string;
  /** Number of its tools that wait for the operator's approval; absent for none. */
  readonly waitingTools?: number;
}

/** Options of a call. */
export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Receives progress (`progress`, `total`, `message`). @default no progress is requested */
  readonly onProgress?: (params: JsonObject) => void;
}

/** Whether an error means that the tool exists, but is not offered. */
export function isUnavailableTool(error: unknown): error is CodedError {
  return isCodedError(error) && error.code === "TOOL_UNAVAILABLE";
}

/** Access to the tools. Disposing it stops everything that was started for it. */
export interface ToolAccess extends AsyncDisposable {
  /** URL of the running gateway; `undefined` if the servers run for this command only. */
  readonly gatewayUrl: string | undefined;
  /** Lists all visible tools. */
  list(): Promise<readonly ToolSummary[]>;
  /** Searches tools, best match first. @param limit 1 to 50. */
  search(query: string, limit: number): Promise<readonly ToolHit[]>;
  /** Searches as `search`; the hits have the parts of their scores. */
  explainSearch(query: string, limit: number): Promise<readonly ToolHit[]>;
  /** Returns a tool by `ToolId` or wire name, if it exists. */
  describe(name: string): Promise<ToolDescription | undefined>;
  /** Returns why a tool that exists is not offered; undefined for a name that no tool has. */
  explain(name: string): Promise<Error | undefined>;
  /**
   * Calls a tool by `ToolId` or wire name. An error of the tool is a result with
   * `isError`.
   *
   * @throws {CodedError} when the call is denied or fails; the code is the gateway's.
   */
  call(name: string, args: JsonObject, options: ToolCallOptions): Promise<ToolResult>;
  /** Returns the current states of the servers. */
  servers(): Promise<readonly ServerState[]>;
}
