/**
 * Connections on which no byte of a request has arrived in the time that headers
 * may take. Clients open some in advance. An answer of 408 on such a connection
 * could meet a request that was just sent, and would be taken for its answer; so
 * they stay open for as long as idle connections do, and close without an answer.
 */

import type { Socket } from "node:net";

/** The unused connections of one server. Disposing closes them. */
export class UnusedConnections implements Disposable {
  readonly #idleMs: number;
  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  /** @param idleMs milliseconds until an unused connection is closed */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** Whether `error` reports that the headers of a request are late, of which no byte has arrived; keeps the connection then. */
  keep(socket: Socket, error: NodeJS.ErrnoException): boolean {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT" || socket.bytesRead > 0) return false;
    if (this.#timers.has(socket)) return true;
    const timer = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, this.#idleMs);
    timer.unref();
    this.#timers.set(socket, timer);
    socket.once("close", () => {
      clearTimeout(timer);
      this.#timers.delete(socket);
    });
    return true;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#timers.keys()) if (socket.bytesRead === 0) socket.destroy();
  }
}
