/** A request of a client and the way back to it, whichever version of HTTP carries both. Types only. */

import type { Readable, Writable } from "node:stream";

/** Names and values by turns, in their order, as `rawHeaders` of `node:http`. */
export type RawHeaders = readonly string[];

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  /** The reason phrase of HTTP/1.1; empty for HTTP/2. */
  readonly statusText: string;
  readonly headers: RawHeaders;
  /** Nothing follows: no body and no trailers. */
  readonly isEnd: boolean;
}

/** One request, and what is done with it. */
export interface ClientExchange {
  readonly method: string;
  /** The request target as it came: a path in most cases. */
  readonly target: string;
  /** `:scheme`; `undefined` in HTTP/1.1. */
  readonly scheme: string | undefined;
  /** Every authority that it names: `:authority` and each `Host`. */
  readonly authorities: readonly string[];
  /** Without pseudo headers and `Host`. */
  readonly headers: RawHeaders;
  readonly hasBody: boolean;
  /** Ends at once where there is no body. Nothing is read before somebody listens. */
  readonly body: Readable;
  /** What came behind the body, when that ended. */
  trailers(): RawHeaders;
  /** Whether the body broke off, although it seemed to end. */
  wasCut(): boolean;
  /** Call `listener` when the client went away before the response was complete, or broke the request off. */
  onGone(listener: () => void): void;
  /** Send an interim response (100, 102, 103). */
  inform(status: number, headers: RawHeaders): void;
  /** Send the head of the response; its body goes into what is returned, and ends with `end`. */
  respond(head: ResponseHead): Writable;
  end(trailers: RawHeaders): void;
  /** Break off, so that the client sees that the response is not complete. */
  reset(errorCode?: number): void;
}
