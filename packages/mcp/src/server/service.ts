/**
 * What stands behind the server edge. A service sees requests in one form,
 * whatever transport and era they came by; the adapters in this folder do the
 * handshakes, headers, sessions and streams.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ClientSession, Era, Identity } from "@toolcrib/tool";

/** What a server says of itself (MCP `Implementation`). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/**
 * Which part of the service an endpoint shows. The adapters pass it through
 * unread; a session keeps the view that it was opened with.
 */
export type View = string;

/** A legacy client's session as the service sees it. */
export interface ServerSession extends ClientSession {
  readonly identity: Identity;
  readonly view: View;
  readonly protocolVersion: string;
}

/** One request to the service. */
export interface ServiceRequest {
  readonly method: string;
  /** Parameters as sent, `_meta` included. */
  readonly params: JsonObject;
  readonly identity: Identity;
  readonly view: View;
  readonly era: Era;
  /** The legacy session it belongs to; absent for modern requests. */
  readonly session?: ServerSession;
  /** `clientInfo` of the request or its session. */
  readonly clientInfo?: JsonObject;
  /** What the client can do (MCP `ClientCapabilities`). */
  readonly clientCapabilities: JsonObject;
  readonly signal: AbortSignal;
  /** Whether the client gave a progress token. */
  readonly wantsProgress: boolean;
  /** Report progress; does nothing when nobody asked for it. */
  progress(params: JsonObject): void;
  /** Send a notification that belongs to this request. */
  notify(method: string, params: JsonObject): void;
  /** Ask the client on account of this request (legacy era only; modern clients reject). */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

/** A modern client's `subscriptions/listen`. */
export interface Listener {
  readonly identity: Identity;
  readonly view: View;
  /** What the client asked to hear. */
  readonly filter: ListenFilter;
  /** Aborts when the stream ends. */
  readonly closed: AbortSignal;
  /** Send a notification that the filter admits. */
  notify(method: string, params: JsonObject): void;
}

/** `notifications` of `subscriptions/listen` (revision 2026-07-28, subscriptions). */
export interface ListenFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

/** The service behind the server edge. */
export interface McpService {
  readonly serverInfo: ServerInfo;
  /** MCP `ServerCapabilities` of `view`. */
  capabilities(view: View, identity: Identity): JsonObject;
  /** Text for the model about the use of `view`. */
  instructions(view: View, identity: Identity): string | undefined;
  /** Answer a request; coded errors become JSON-RPC errors. */
  handle(request: ServiceRequest): Promise<JsonObject>;
  /** A legacy session finished its handshake. */
  sessionOpened(session: ServerSession): void;
  /** A legacy session ended. */
  sessionClosed(session: ServerSession): void;
  /** Start sending to `listener`; resolves to the part of its filter that is honoured. */
  listen(listener: Listener): Promise<ListenFilter>;
  /** The input schema of a tool, to check the headers that mirror its parameters. */
  toolInputSchema(view: View, identity: Identity, name: string): JsonObject | undefined;
}
