/**
 * The parts of an HTTP request and its response that the endpoints use. The
 * messages of `node:http` have them, and so have those of any other reader of
 * HTTP that an owner of an endpoint uses.
 */

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";

/** A request. */
export interface HttpRequest {
  readonly method?: string | undefined;
  /** Path and query as sent. */
  readonly url?: string | undefined;
  /** By name in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turns, as sent; empty when it is known that no name occurs twice. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Whether the whole request has arrived. */
  readonly complete: boolean;
  readonly destroyed: boolean;
  /** The whole body, when it arrived together with the head; then there is no `data` and no `end`. */
  readonly wholeBody?: Buffer | undefined;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
}

/** A response to a request, as in `node:http`. */
export interface HttpResponse {
  readonly req: HttpRequest;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Bytes that were written and wait for the client to read. */
  readonly writableLength: number;
  /** Whether the connection stays open after the response. */
  shouldKeepAlive: boolean;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: OutgoingHttpHeaders): HttpResponse;
  flushHeaders(): void;
  write(text: string): unknown;
  end(text?: string): unknown;
  destroy(): unknown;
  on(event: "close" | "drain", listener: () => void): unknown;
  once(event: "close" | "drain" | "finish", listener: () => void): unknown;
  off(event: "close" | "drain" | "finish", listener: () => void): unknown;
}
