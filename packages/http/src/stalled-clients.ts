/**
 * Closes connections of clients that send requests and do not read the answers,
 * which take memory while they wait. It checks all connections once in each
 * interval and does nothing per request.
 */

import type { Socket } from "node:net";

/** State of a connection when its client last read something. */
interface Progress {
  readonly waitingBytes: number;
  readonly at: number;
}

/** Watches connections until it is disposed. */
export class StalledClients implements Disposable {
  readonly #now: () => number;
  readonly #stalledMs: number;
  readonly #onStalled: (socket: Socket) => void;
  readonly #sockets = new Map<Socket, Progress | undefined>();
  readonly #timer: NodeJS.Timeout;

  /** Starts to watch. @param onStalled called before a connection is closed. */
  constructor(
    now: () => number,
    options: { readonly stalledMs: number; readonly intervalMs: number },
    onStalled: (socket: Socket) => void,
  ) {
    this.#now = now;
    this.#stalledMs = options.stalledMs;
    this.#onStalled = onStalled;
    this.#timer = setInterval(() => this.#check(), options.intervalMs);
    this.#timer.unref();
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#sockets.clear();
  }

  #check(): void {
    const time = this.#now();
    for (const [socket, progress] of this.#sockets) {
      const waitingBytes = socket.writableLength;
      if (waitingBytes === 0) {
        if (progress !== undefined) this.#sockets.set(socket, undefined);
      } else if (progress === undefined || waitingBytes < progress.waitingBytes) {
        this.#sockets.set(socket, { waitingBytes, at: time });
      } else if (time - progress.at >= this.#stalledMs) {
        this.#onStalled(socket);
        socket.destroy();
      }
    }
  }
}
