/**
 * The interface of a service behind the server adapters. A service receives
 * requests in one form, independent of transport and era. The adapters in this
 * folder handle handshakes, headers, sessions and streams.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ClientSession, Era, Identity } from "@toolcrib/tool";

/** Name and version of a server (MCP `Implementation`). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/**
 * The part of the service that an endpoint exposes. The adapters pass it on
 * unchanged. A session keeps the view with which it was opened.
 */
export type View = string;

/** The session of a legacy client. */
export interface ServerSession extends ClientSession {
  readonly identity: Identity;
  readonly view: View;
  readonly protocolVersion: string;
}

/** One request to the service. */
export interface ServiceRequest {
  readonly method: string;
  /** Parameters as received, including `_meta`. */
  readonly params: JsonObject;
  readonly identity: Identity;
  readonly view: View;
  readonly era: Era;
  /** The legacy session of the request; absent for modern requests. */
  readonly session?: ServerSession;
  /** `clientInfo` of the request or its session. */
  readonly clientInfo?: JsonObject;
  /** MCP `ClientCapabilities`. */
  readonly clientCapabilities: JsonObject;
  /** The lowest level of log messages that a modern request asks for, if any. */
  readonly logLevel?: string | undefined;
  readonly signal: AbortSignal;
  /** Whether the client sent a progress token. */
  readonly wantsProgress: boolean;
  /** The W3C trace context in the headers of the HTTP request, unchecked; absent without one. */
  readonly httpTrace?: TraceHeaders | undefined;
  /** Reports progress; without effect if the client sent no progress token. */
  progress(params: JsonObject): void;
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: JsonObject): void;
  /** Sends a request to the client on behalf of this request. Rejects for modern clients. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

/** The headers of a W3C trace context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** The change stream of a modern client (`subscriptions/listen`). */
export interface Listener {
  readonly identity: Identity;
  readonly view: View;
  /** The changes that the client subscribed to. */
  readonly filter: ListenFilter;
  /** MCP `ClientCapabilities` of the request. */
  readonly clientCapabilities: JsonObject;
  /** Aborts when the stream ends. */
  readonly closed: AbortSignal;
  /** Sends a notification that matches the filter. */
  notify(method: string, params: JsonObject): void;
}

/** `notifications` of `subscriptions/listen` (revision 2026-07-28, subscriptions). */
export interface ListenFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
  /** Tasks whose state is reported (extension `io.modelcontextprotocol/tasks`). */
  readonly taskIds?: readonly string[];
}

/** The service behind the server adapters. */
export interface McpService {
  readonly serverInfo: ServerInfo;
  /** Returns the MCP `ServerCapabilities` of `view`. @param era that of the client. @default "legacy" */
  capabilities(view: View, identity: Identity, era?: Era): JsonObject;
  /** Returns text for the model about the use of `view`. */
  instructions(view: View, identity: Identity): string | undefined;
  /**
   * Answers a request. Coded errors become JSON-RPC errors. To a modern `tools/call`, `prompts/get` or `resources/read`
   * the answer can be questions to the client, with the `resultType` `input_required`; to a modern `tools/call`, the handle
   * of a task, with the `resultType` `task`.
   */
  handle(request: ServiceRequest): Promise<JsonObject>;
  /** Reports a legacy session that finished its handshake. */
  sessionOpened(session: ServerSession): void;
  /**
   * Reports a legacy session that continues one of an earlier run, with the resources that its client subscribed to.
   * Everything that the client sees can be another one since. @default `sessionOpened`
   */
  sessionRestored?(session: ServerSession, subscriptions: readonly string[]): void;
  /** Reports a legacy session that ended. */
  sessionClosed(session: ServerSession): void;
  /** Starts to send changes to `listener`. Resolves to the supported part of its filter. */
  listen(listener: Listener): Promise<ListenFilter>;
  /** Returns the input schema of a tool, to check the headers that mirror its parameters. */
  toolInputSchema(view: View, identity: Identity, name: string): JsonObject | undefined;
}
