/** The connection pool that HTTP transports share. */

import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";

/** Connections to servers, created by `createHttpClient` and closed by the owner. */
export type HttpClient = Dispatcher;

/** Options of an HTTP client. */
export interface HttpClientOptions {
  /** Maximum number of connections to one origin. @default 256 */
  readonly maxConnectionsPerOrigin?: number;
  /** Milliseconds to connect. @default 10,000 */
  readonly connectTimeoutMs?: number;
  /** Unix domain socket, or named pipe, to connect to instead of the address of the URL. */
  readonly socketPath?: string;
}

/** Creates a pool. Call `destroy()` to dispose of it. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const agent = new Agent({
    connections: options.maxConnectionsPerOrigin ?? 256,
    connect: { timeout: options.connectTimeoutMs ?? 10_000, socketPath: options.socketPath },
    // One request at a time on a connection: a stream must not delay a call.
    pipelining: 1,
    maxHeaderSize: 64 * 1024,
  });
  // The full undici package adds this method to its dispatchers when it is loaded.
  return Object.assign(agent, { request });
}
