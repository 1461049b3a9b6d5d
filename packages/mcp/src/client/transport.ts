/**
 * The contract between a connection and its transport: deliver messages, and
 * report received ones together with the request that each belongs to, where
 * the transport can tell.
 */

import type { JsonObject } from "@toolcrib/json";
import type { RpcId, RpcMessage } from "../json-rpc.ts";
import type { McpError } from "../mcp-error.ts";

/** Callbacks of a transport. */
export interface TransportReceiver {
  /** Receives a parsed message. `relatedTo` is the id of our request on whose stream it arrived. */
  message(value: unknown, relatedTo?: RpcId): void;
  /** Reports that our request `id` could not be delivered, or that its response was lost. */
  failed(id: RpcId, error: McpError): void;
  /** Reports the end of the transport: no message follows. Called at most once. */
  closed(error: McpError): void;
  /**
   * Reports received data that is not a message; for the log. `violation` is set where a limit is broken: a server
   * that repeats it should not be used.
   */
  invalid(reason: string, violation?: McpError): void;
  /** Reports that reading pauses, because the server sends too much that answers no request. */
  slowed?(): void;
  /** Reports that messages which belong to no request can have been lost: the server could not send any for a time. */
  missed?(): void;
}

/** Details of a message that only some transports need. */
export interface SendHints {
  /** Modern era over HTTP: the schema whose `x-mcp-header` parameters are mirrored into headers. */
  readonly inputSchema?: JsonObject | undefined;
  /** The message as JSON, where the caller has it; bytes are sent without a copy. */
  readonly text?: string | Buffer;
}

/** Sends messages to one server and receives its messages. */
export interface ClientTransport {
  readonly kind: "stdio" | "streamable_http" | "sse";
  /** Connects. @throws {McpError} when the server cannot be reached. */
  open(receiver: TransportReceiver, signal: AbortSignal): Promise<void>;
  /**
   * Sends a message. Failures are reported to the receiver. After
   * `notifications/cancelled`, the transport may drop what arrives for the cancelled request.
   */
  send(message: RpcMessage, hints?: SendHints): void;
  /** Whether the server opened a session for this connection. @default true */
  readonly hasSession?: boolean;
  /** Sets the protocol version after the handshake; later HTTP requests carry it in a header. */
  negotiated?(version: string): void;
  /** Resolves when the server can send messages that belong to no request, or after a short time. */
  settled?(): Promise<void>;
  /** Resolves when the server has received all messages that are no requests, or they have failed. */
  flushed?(): Promise<void>;
  /** Disconnects. Safe to repeat. */
  close(): Promise<void>;
}
