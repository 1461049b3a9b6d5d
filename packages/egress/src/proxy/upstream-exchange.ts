/** A request on its way to the origin, and its response, whichever version of HTTP carries both. Types only. */

import type { Writable } from "node:stream";
import type { BodySource } from "./body-source.ts";
import type { RawHeaders, ResponseHead } from "./client-exchange.ts";

/** The head of a request as it goes out. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** As `Host` or `:authority` has it. */
  readonly authority: string;
  /** Without `Host`, pseudo headers and what belongs to one connection. */
  readonly headers: RawHeaders;
  /** Names (in lower case) of headers that hold a secret: HTTP/2 does not index them. */
  readonly secretHeaders: readonly string[];
  readonly hasBody: boolean;
  /** Whether the client takes trailers. */
  readonly takesTrailers: boolean;
}

/** The head of the origin's response, and what follows it. */
export interface UpstreamResponse extends ResponseHead {
  readonly body: BodySource;
  /** What came behind the body, when that ended. */
  trailers(): RawHeaders;
  /** Whether the body broke off, although it seemed to end. */
  wasCut(): boolean;
}

/** What happens to a request that was sent. After `onFailed` nothing more. */
export interface UpstreamListener {
  onInterim(status: number, headers: RawHeaders): void;
  onResponse(response: UpstreamResponse): void;
  /** The response will not come, or not be complete. */
  onFailed(error: Error, how: FailureKind): void;
}

/** How a request failed. */
export interface FailureKind {
  /** The HTTP/2 error code that the origin gave. */
  readonly errorCode?: number;
  /** The connection had been idle: the origin may have ended it before it saw the request. */
  readonly wasIdle?: boolean;
}

/** A request that is being sent. */
export interface UpstreamExchange {
  /** Takes the body; nobody ends it but `endBody`. */
  readonly body: Writable;
  endBody(trailers: RawHeaders): void;
  /** Break off. Safe to repeat. */
  cancel(): void;
}

/** A way to the origin that is open. */
export interface Passage {
  /**
   * Send one request. It is sent once: what a connection lost is the client's
   * to repeat, as it would be without a proxy.
   *
   * @throws {EgressError} `EGRESS_REQUEST_INVALID` for a head that cannot be written.
   */
  send(head: RequestHead, listener: UpstreamListener): UpstreamExchange;
  /** Nothing is sent after all. */
  leave(): void;
}
