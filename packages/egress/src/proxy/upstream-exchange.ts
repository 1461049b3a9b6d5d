/** A request to the origin and its response, for every version of HTTP. Types only. */

import type { Writable } from "node:stream";
import type { BodySource } from "./body-source.ts";
import type { RawHeaders, ResponseHead } from "./client-exchange.ts";

/** The head of a request to the origin. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** The value of `Host` or `:authority`. */
  readonly authority: string;
  /** Without `Host`, pseudo headers and connection headers. */
  readonly headers: RawHeaders;
  /** Names (in lower case) of headers that contain a secret: HTTP/2 does not index them. */
  readonly secretHeaders: readonly string[];
  readonly hasBody: boolean;
  /** Whether the client accepts trailers. */
  readonly takesTrailers: boolean;
}

/** The response of the origin. */
export interface UpstreamResponse extends ResponseHead {
  readonly body: BodySource;
  /** The trailers, available after the end of the body. */
  trailers(): RawHeaders;
  /** Whether the body is incomplete although its stream has ended. */
  wasCut(): boolean;
}

/** Receives the response to a request. No call follows `onFailed`. */
export interface UpstreamListener {
  onInterim(status: number, headers: RawHeaders): void;
  onResponse(response: UpstreamResponse): void;
  /** No response arrives, or it is incomplete. */
  onFailed(error: Error, how: FailureKind): void;
}

/** Details of a failed request. */
export interface FailureKind {
  /** The HTTP/2 error code of the origin. */
  readonly errorCode?: number;
  /** Whether the connection was idle before: the origin may have closed it before it received the request. */
  readonly wasIdle?: boolean;
}

/** A request in progress. */
export interface UpstreamExchange {
  /** Receives the body. Only `endBody` ends it. */
  readonly body: Writable;
  endBody(trailers: RawHeaders): void;
  /** Aborts the request. Safe to repeat. */
  cancel(): void;
}

/** The right to send one request on an open connection. */
export interface UpstreamLease {
  /**
   * Sends one request, once: after a connection failure, the client decides
   * whether to retry, as it does without a proxy.
   *
   * @throws {EgressError} `EGRESS_REQUEST_INVALID` for a head that is not valid.
   */
  send(head: RequestHead, listener: UpstreamListener): UpstreamExchange;
  /** Returns the connection without sending a request. */
  release(): void;
}
