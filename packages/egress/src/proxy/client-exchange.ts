/** A request of a client and its response, for every version of HTTP. Types only. */

import type { Readable, Writable } from "node:stream";

/** Alternating names and values in their order, like `rawHeaders` of `node:http`. */
export type RawHeaders = readonly string[];

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  /** The reason phrase of HTTP/1.1; empty for HTTP/2. */
  readonly statusText: string;
  readonly headers: RawHeaders;
  /** Whether neither a body nor trailers follow. */
  readonly isEnd: boolean;
}

/** One request of a client. */
export interface ClientExchange {
  readonly method: string;
  /** The request target as received: usually a path. */
  readonly target: string;
  /** `:scheme`; `undefined` in HTTP/1.1. */
  readonly scheme: string | undefined;
  /** Every authority that the request names: `:authority` and each `Host`. */
  readonly authorities: readonly string[];
  /** Without pseudo headers and `Host`. */
  readonly headers: RawHeaders;
  readonly hasBody: boolean;
  /** Ends at once if there is no body. Reading starts with the first listener. */
  readonly body: Readable;
  /** The trailers, available after the end of the body. */
  trailers(): RawHeaders;
  /** Whether the body is incomplete although its stream has ended. */
  wasCut(): boolean;
  /** Calls `listener` if the client disconnects before the response is complete, or aborts the request. */
  onGone(listener: () => void): void;
  /** Sends an interim response (100, 102, 103). */
  inform(status: number, headers: RawHeaders): void;
  /** Sends the head of the response, and returns a stream for the body, which `end` ends. */
  respond(head: ResponseHead): Writable;
  end(trailers: RawHeaders): void;
  /** Aborts the response, so that the client sees that it is incomplete. */
  reset(errorCode?: number): void;
}
