/**
 * Closes connections of clients that send requests and do not read the answers,
 * which take memory while they wait. It checks all connections once in each
 * interval and does nothing per request.
 */

import type { Socket } from "node:net";

/** Watches connections until it is disposed. */
export interface StalledClients extends Disposable {
  add(socket: Socket): void;
}

/** State of a connection when its client last read something. */
interface Progress {
  readonly waitingBytes: number;
  readonly at: number;
}

/** Starts to watch. @param onStalled called before a connection is closed. */
export function watchStalledClients(
  now: () => number,
  options: { readonly stalledMs: number; readonly intervalMs: number },
  onStalled: (socket: Socket) => void,
): StalledClients {
  const sockets = new Map<Socket, Progress | undefined>();

  function look(): void {
    const time = now();
    for (const [socket, progress] of sockets) {
      const waitingBytes = socket.writableLength;
      if (waitingBytes === 0) {
        if (progress !== undefined) sockets.set(socket, undefined);
      } else if (progress === undefined || waitingBytes < progress.waitingBytes) {
        sockets.set(socket, { waitingBytes, at: time });
      } else if (time - progress.at >= options.stalledMs) {
        onStalled(socket);
        socket.destroy();
      }
    }
  }

  const timer = setInterval(look, options.intervalMs);
  timer.unref();
  return {
    add(socket) {
      sockets.set(socket, undefined);
      socket.once("close", () => sockets.delete(socket));
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      sockets.clear();
    },
  };
}
