/** Size and time limits of a proxy. */

/** Limits of one proxy, all finite. */
export interface ProxyLimits {
  /** Maximum number of simultaneous connections; further ones are closed. */
  readonly connectionsMaxCount: number;
  /** Time limit for the head of CONNECT and of each request. */
  readonly requestHeadTimeoutMs: number;
  /** Time limit for the TLS handshake of a client. */
  readonly handshakeTimeoutMs: number;
  /** A connection without traffic for this long is closed. */
  readonly idleTimeoutMs: number;
  /** Largest head of CONNECT. */
  readonly connectHeadMaxBytes: number;
  /** Largest head of a request or response. */
  readonly headersMaxBytes: number;
  /** Maximum number of simultaneous requests on one HTTP/2 connection. */
  readonly streamsMaxCount: number;
  /** Flow-control window of an HTTP/2 stream; a connection has twice that. */
  readonly windowBytes: number;
  /** Maximum number of buffered bytes of a body. */
  readonly highWaterBytes: number;
  /** Maximum memory of one HTTP/2 session, in megabytes. */
  readonly sessionMaxMegabytes: number;
  /** Maximum number of bytes of one connection that is passed on unread, in both directions together. */
  readonly relayMaxBytes: number;
}

/** The limits of every proxy. */
export const proxyLimits: ProxyLimits = {
  connectionsMaxCount: 512,
  requestHeadTimeoutMs: 15_000,
  handshakeTimeoutMs: 15_000,
  idleTimeoutMs: 300_000,
  connectHeadMaxBytes: 16 * 1024,
  headersMaxBytes: 64 * 1024,
  streamsMaxCount: 128,
  windowBytes: 1024 * 1024,
  highWaterBytes: 256 * 1024,
  sessionMaxMegabytes: 32,
  relayMaxBytes: 16 * 1024 ** 3,
};
