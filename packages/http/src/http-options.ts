/**
 * Options and limits of the HTTP server. Every limit is finite, and its default
 * is documented here.
 */

/** Options of `startHttpServer`; the section `serve` of the configuration has this form. */
export interface HttpServerOptions {
  /** Address or name, and port; port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The authentication of callers. `none` only on loopback. */
  readonly auth: "token" | "none";
  /** `Host` values that are answered besides loopback and `listen.host`: `host` or `host:port`. @default [] */
  readonly allowedHosts?: readonly string[];
  /** `Origin` values that are answered besides loopback ones. @default [] */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: HttpLimitOptions;
}

/** Limits of the HTTP server; an omitted limit has its default. */
export interface HttpLimitOptions {
  /** Longest request body in bytes. @default 4,194,304 */
  readonly bodyMaxBytes?: number;
  /** Deepest nesting of a body. @default 64 */
  readonly bodyMaxDepth?: number;
  /** All headers of a request together, in bytes. @default 16,384 */
  readonly headersMaxBytes?: number;
  /** Maximum number of sessions of each transport at once; one client gets at most half of them. @default 1000 */
  readonly maxSessions?: number;
  /** Seconds without a request or a stream after which a session ends. @default 3600 */
  readonly sessionIdleSeconds?: number;
  /** Maximum number of calls in flight. The governed call enforces it; the HTTP server accepts more requests than that. @default 1024 */
  readonly maxConcurrentCalls?: number;
  /** Maximum number of requests in flight in one session. @default 256, or `maxConcurrentCalls` if that is more */
  readonly maxInFlightPerSession?: number;
  /** Maximum number of requests in flight in all; one client gets at most half of them. @default 2048, or `maxConcurrentCalls` if that is more */
  readonly maxInFlight?: number;
  /** Maximum number of connections at once; more are closed unanswered. @default 4096 */
  readonly maxConnections?: number;
  /** Milliseconds in which the headers of a request must arrive. @default 10,000 */
  readonly headersTimeoutMs?: number;
  /** Milliseconds in which a request must arrive with its body. Answers and streams can take any time. @default 60,000 */
  readonly requestTimeoutMs?: number;
  /** Milliseconds between two checks for late requests and stalled clients. @default 2,000 */
  readonly lateCheckMs?: number;
  /** Milliseconds that a connection may be idle between two requests. @default 60,000 */
  readonly idleConnectionMs?: number;
  /** Milliseconds in which a client must read part of the data that waits for it. @default 120,000 */
  readonly stalledClientMs?: number;
  /** Milliseconds between comments on open streams. @default 15,000 */
  readonly keepAliveMs?: number;
  /** Milliseconds that calls in flight have to finish when the server is disposed. @default 10,000 */
  readonly drainGraceMs?: number;
  /** Milliseconds that answers have to reach their clients after that. @default 1,000 */
  readonly flushGraceMs?: number;
}

/** All limits. */
export type HttpLimits = Required<HttpLimitOptions>;

/** Adds the defaults. */
export function resolveHttpLimits(options: HttpLimitOptions = {}): HttpLimits {
  const maxConcurrentCalls = options.maxConcurrentCalls ?? 1024;
  const requestTimeoutMs = options.requestTimeoutMs ?? 60_000;
  return {
    bodyMaxBytes: options.bodyMaxBytes ?? 4 * 1024 * 1024,
    bodyMaxDepth: options.bodyMaxDepth ?? 64,
    headersMaxBytes: options.headersMaxBytes ?? 16 * 1024,
    maxSessions: options.maxSessions ?? 1000,
    sessionIdleSeconds: options.sessionIdleSeconds ?? 3600,
    maxConcurrentCalls,
    maxInFlightPerSession: options.maxInFlightPerSession ?? Math.max(256, maxConcurrentCalls),
    maxInFlight: options.maxInFlight ?? Math.max(2048, maxConcurrentCalls),
    maxConnections: options.maxConnections ?? 4096,
    // Headers are part of the request: their time cannot be longer.
    headersTimeoutMs: Math.min(options.headersTimeoutMs ?? 10_000, requestTimeoutMs),
    requestTimeoutMs,
    lateCheckMs: options.lateCheckMs ?? 2000,
    idleConnectionMs: options.idleConnectionMs ?? 60_000,
    stalledClientMs: options.stalledClientMs ?? 120_000,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    drainGraceMs: options.drainGraceMs ?? 10_000,
    flushGraceMs: options.flushGraceMs ?? 1000,
  };
}
