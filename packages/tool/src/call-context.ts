/**
 * Who calls, until when, and the way back to the client. One `CallContext`
 * belongs to one execution; a composite's inner calls get their own, with
 * `parentId` and `depth + 1`.
 */

import type { JsonObject } from "@toolcrib/json";
import type { Identity } from "./identity.ts";

/** What the client's software says of itself. Display and audit only. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Which protocol family a request came in by (legacy: 2025-11-25 and earlier). */
export type Era = "legacy" | "modern";

/** One downstream client's connection, for whatever must reach that client and no other. */
export interface ClientSession {
  /** Unique and unguessable. */
  readonly id: string;
  readonly clientInfo?: ClientInfo;
  /** MCP `ClientCapabilities` as the client declared them. */
  readonly capabilities: JsonObject;
  /** Lowest level of log messages that the client asked for (`logging/setLevel`), if it did. */
  readonly logLevel: string | undefined;
  /** Aborts when the client is gone. */
  readonly closed: AbortSignal;
  /** Send a notification that belongs to no request, such as `notifications/resources/updated`. */
  notify(method: string, params: JsonObject): void;
  /** Ask the client something that belongs to no call; rejects when the client cannot be reached. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** Hear that the client's roots changed; absent where clients cannot say so. */
  onRootsChanged?(listener: () => void): () => void;
}

/** What one execution knows of its surroundings. */
export interface CallContext {
  readonly callId: string;
  /** The call that made this one (a composite's), if any. */
  readonly parentId?: string;
  /** 0 for a client's own call. */
  readonly depth: number;
  readonly identity: Identity;
  readonly era: Era;
  /** Aborts on cancellation, on the deadline and when the client is gone; its reason says which. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch after which the call is failed. */
  readonly deadline: number;
  /** `_meta` of the request, less what belongs to this hop (progress token, protocol keys). */
  readonly meta?: JsonObject;
  readonly session?: ClientSession;
  /** Whether anyone listens to `progress`. */
  readonly wantsProgress: boolean;
  /** Pass progress back (`progress`, `total`, `message` of `notifications/progress`). */
  progress(params: JsonObject): void;
  /** Send a notification that belongs to this call, such as `notifications/message`. */
  notify(method: string, params: JsonObject): void;
  /**
   * Ask the client that caused the call: `sampling/createMessage`,
   * `elicitation/create` or `roots/list`. Rejects when it cannot answer.
   */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}
