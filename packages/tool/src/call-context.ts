/**
 * The context of a call: its caller, its deadline, and the channel to the
 * client. Each execution has its own `CallContext`; that of an inner call has
 * the `parentId` of the composite's call and `depth + 1`.
 */

import type { JsonObject } from "@toolcrib/json";
import type { Identity } from "./identity.ts";
import type { ToolId } from "./tool.ts";

/** Name and version that the client's software reports. For display and audit only. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** The protocol family of a request (legacy: 2025-11-25 and earlier). */
export type Era = "legacy" | "modern";

/** The connection of one downstream client, for messages to that client and no other. */
export interface ClientSession {
  /** Unique and unguessable. */
  readonly id: string;
  /** The caller that opened it; absent where every session is a caller of its own. */
  readonly identity?: Identity;
  readonly clientInfo?: ClientInfo;
  /** The declared MCP `ClientCapabilities`. */
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client set (`logging/setLevel`), if any. */
  readonly logLevel: string | undefined;
  /** Aborts when the client has disconnected. */
  readonly closed: AbortSignal;
  /** Sends a notification that belongs to no request, such as `notifications/resources/updated`. */
  notify(method: string, params: JsonObject): void;
  /** Sends a request to the client that belongs to no call. Rejects if the client cannot be reached. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** Adds a listener for changes of the client's roots; absent if clients cannot report them. */
  onRootsChanged?(listener: () => void): () => void;
}

/**
 * The rounds of a call whose client takes the questions of a server as a result (`input_required`, revision 2026-07-28)
 * and then repeats the call with its answers.
 */
export interface InputRounds {
  /** The answers, by the keys of the questions (`inputResponses`). */
  readonly responses?: JsonObject | undefined;
  /** The `requestState` that the source returned with its questions. */
  readonly state?: string | undefined;
  /** Id of the call whose questions it answers. */
  readonly continues?: string | undefined;
  /** Whether the operator approved that call, and no other call continued it. */
  readonly isApproved?: boolean | undefined;
}

/** The context of one execution. */
export interface CallContext {
  readonly callId: string;
  /** Id of what is called: a tool, or a resource or prompt (`server:resources/URI`); absent outside a gateway. */
  readonly tool?: ToolId;
  /** Id of the composite's call that made this inner call, if any. */
  readonly parentId?: string;
  /** 0 for a client's own call. */
  readonly depth: number;
  readonly identity: Identity;
  /**
   * Owners of the saved tools around this call that the operator did not approve. The call needs the permissions of
   * each of them, too.
   */
  readonly owners?: readonly Identity[];
  /** Labels of the data that this call tree received; absent where no source has labels. It only grows. */
  readonly run?: { readonly labels: readonly string[]; add(labels: readonly string[]): void };
  readonly era: Era;
  /** Aborts on cancellation, at the deadline, and when the client has disconnected; the reason distinguishes them. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch at which the call fails. */
  readonly deadline: number;
  /**
   * Decides again whether the call may be made, where what decides changed since. Called after a wait, right before the
   * call is sent.
   *
   * @throws {CodedError} when it may not be made any more
   */
  recheck?(): void;
  /** `_meta` of the request without the members that belong to one hop (progress token, protocol keys). */
  readonly meta?: JsonObject;
  readonly session?: ClientSession;
  /** The software of the client that caused the call, as it reports it. */
  readonly clientInfo?: ClientInfo | undefined;
  /** MCP `ClientCapabilities` of the client that caused the call; absent where there is none. */
  readonly clientCapabilities?: JsonObject | undefined;
  /** The lowest level of log messages that the request asked for (2026-07-28), if any. */
  readonly logLevel?: string | undefined;
  /** Present if the result may be questions to the client; otherwise they are asked with `ask`. */
  readonly rounds?: InputRounds | undefined;
  /**
   * Watches for the end of a call that waits for its client between two rounds, where nothing runs that a pause could
   * cancel. Present with `rounds`.
   *
   * @param end ends the call.
   * @returns ends the watch.
   * @throws {CodedError} when it is paused now.
   */
  readonly whileParked?: ((end: (reason: Error) => void) => () => void) | undefined;
  /** Present for a call whose client collects the result later: its server may run it as a task. */
  readonly task?:
    | {
        /** Milliseconds for which the task is kept. */
        readonly ttlMs: number;
        /** The task of the server that an earlier run of the gateway started; absent for a new call. */
        readonly remote: { readonly id: string; readonly era: Era } | undefined;
        /** Whether the gateway is ending, and the server continues its task without it. */
        readonly isLeft: boolean;
        /** The server runs the call as a task. Resolves when that is stored. */
        accepted(remote: { readonly id: string; readonly era: Era }): Promise<void>;
        /** Notes what the server says about its task. */
        changed(state: {
          readonly statusMessage?: string | undefined;
          readonly pollIntervalMs?: number | undefined;
        }): void;
        /** The connection to the server is lost: nothing is known of the task until the next `changed`. */
        lost?(): void;
        /** The call was ended, and the cancellation of its task is sent to the server. `delivered` says whether the server answered. */
        cancelling?(delivered: Promise<boolean>): void;
      }
    | undefined;
  /** Whether the client requested progress. */
  readonly wantsProgress: boolean;
  /** Reports progress (`progress`, `total`, `message` of `notifications/progress`). */
  progress(params: JsonObject): void;
  /** Sends a notification that belongs to this call, such as `notifications/message`. */
  notify(method: string, params: JsonObject): void;
  /**
   * Sends a request to the client that caused the call: `sampling/createMessage`,
   * `elicitation/create` or `roots/list`. Rejects if the client cannot answer.
   */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}
