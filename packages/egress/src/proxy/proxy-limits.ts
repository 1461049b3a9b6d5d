/** How much and how long a proxy puts up with. */

/** Limits of one proxy, all finite. */
export interface ProxyLimits {
  /** Most connections at a time; further ones are closed. */
  readonly connectionsMaxCount: number;
  /** Longest time for the head of CONNECT and of each request. */
  readonly requestHeadTimeoutMs: number;
  /** Longest TLS handshake of a client. */
  readonly handshakeTimeoutMs: number;
  /** A connection on which nothing moves for this long is ended. */
  readonly idleTimeoutMs: number;
  /** Largest head of CONNECT. */
  readonly connectHeadMaxBytes: number;
  /** Largest head of a request or response. */
  readonly headersMaxBytes: number;
  /** Most requests at a time on one HTTP/2 connection. */
  readonly streamsMaxCount: number;
  /** What a peer may send ahead on one HTTP/2 stream; twice that on a connection. */
  readonly windowBytes: number;
  /** What is taken of a body before its reader has taken what was sent. */
  readonly highWaterBytes: number;
  /** Most memory of one HTTP/2 session, in megabytes. */
  readonly sessionMaxMegabytes: number;
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
};
