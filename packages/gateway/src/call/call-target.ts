/**
 * What a governed call is about to run: a tool of some origin, or a resource
 * or prompt of a server. It carries everything that the steps need to know, so
 * that the governed call itself knows no origin.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, Origin, ToolId } from "@toolcrib/tool";

/** The thing to execute. */
export interface CallTarget {
  /** Id in policy and audit: a `ToolId`, or `server:resources/URI` and `server:prompts/NAME`. */
  readonly id: ToolId;
  readonly wireName: string;
  readonly origin: Origin;
  /** Id of the tool server or toolspec, where there is one. */
  readonly server: string | undefined;
  /** Milliseconds until the call is failed. */
  readonly deadlineMs: number;
  /** Containment tier for the audit. */
  readonly containment: string | undefined;
  readonly inputSchema: JsonObject | undefined;
  readonly outputSchema: JsonObject | undefined;
  /** Run it. @throws {CodedError} when the operation failed. */
  execute(args: JsonObject, context: CallContext): Promise<JsonObject>;
}

/** Who calls, and the way back. */
export interface CallOrigin
  extends Pick<CallContext, "identity" | "era" | "session" | "wantsProgress" | "meta"> {
  /** The client's side of the call. */
  readonly wayBack: Pick<CallContext, "progress" | "notify" | "ask">;
  readonly signal: AbortSignal | undefined;
  /** What the client's software says of itself. */
  readonly clientInfo: { readonly name: string; readonly version: string } | undefined;
  /** The call that makes this one; absent for a client's own. */
  readonly parent: { readonly callId: string; readonly depth: number } | undefined;
}
