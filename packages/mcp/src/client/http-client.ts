/** The pool of connections that HTTP transports share. */

import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";

/** Connections to servers, made by `createHttpClient` and closed by its owner. */
export type HttpClient = Dispatcher;

/** Limits of an HTTP client. */
export interface HttpClientOptions {
  /** Most connections to one origin. @default 256 */
  readonly maxConnectionsPerOrigin?: number;
  /** Milliseconds to connect. @default 10,000 */
  readonly connectTimeoutMs?: number;
}

/** Create a pool. Disposing it is `destroy()`. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const agent = new Agent({
    connections: options.maxConnectionsPerOrigin ?? 256,
    connect: { timeout: options.connectTimeoutMs ?? 10_000 },
    // One request after the other on a connection: a stream must not hold up a call.
    pipelining: 1,
    maxHeaderSize: 64 * 1024,
  });
  // What undici gives its dispatchers when all of it is loaded.
  return Object.assign(agent, { request });
}
