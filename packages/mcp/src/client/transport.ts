/**
 * What the client edge asks of a transport: deliver messages, and say which
 * request of ours an incoming message came on account of, where it can tell.
 */

import type { RpcId, RpcMessage } from "../json-rpc.ts";
import type { McpError } from "../mcp-error.ts";

/** What a transport reports. */
export interface TransportReceiver {
  /** A parsed message; `relatedTo` is our request on whose stream it came. */
  message(value: unknown, relatedTo?: RpcId): void;
  /** Our request `id` could not be delivered, or its answer was lost. */
  failed(id: RpcId, error: McpError): void;
  /** Nothing more will come. Called at most once. */
  closed(error: McpError): void;
  /** Something that is no message; for the log. */
  garbage(reason: string): void;
}

/** What a transport may need to know of a message besides its text. */
export interface SendHints {
  /** Extra headers (HTTP only). */
  readonly headers?: { readonly [name: string]: string };
}

/** A way to one server. */
export interface ClientTransport {
  readonly kind: "stdio" | "streamable_http" | "sse";
  /** Connect. @throws {McpError} when the server cannot be reached. */
  open(receiver: TransportReceiver, signal: AbortSignal): Promise<void>;
  /**
   * Send; what fails is reported to the receiver. After
   * `notifications/cancelled` nothing need be delivered for its request any more.
   */
  send(message: RpcMessage, hints?: SendHints): void;
  /** The handshake is done; later requests carry this version (HTTP header). */
  negotiated?(version: string): void;
  /** Disconnect. Safe to repeat. */
  close(): Promise<void>;
}
