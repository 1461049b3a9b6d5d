/** A body from one side to the other, piece by piece, as fast as the slower side takes it. Keeps nothing. */

import type { Readable, Writable } from "node:stream";

/** What is done with the pieces of a body. */
export interface Relay {
  /** What goes on in the place of a piece. What it throws ends the relay. */
  piece(piece: Buffer): Uint8Array;
  /** The body came to its end. */
  end(): void;
  /** The body broke off, or a step threw. */
  fail(error: Error): void;
}

/** Relay `from` to `to`, which the caller ends. */
export function relayBody(from: Readable, to: Writable, relay: Relay): void {
  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      relay.fail(error as Error);
    }
  };
  from.on("data", (piece: Buffer) =>
    attempt(() => {
      // What comes behind a response that is over is read and dropped.
      if (to.destroyed || to.writableEnded) return;
      const passed = relay.piece(piece);
      if (passed.length > 0 && !to.write(passed)) from.pause();
    }),
  );
  to.on("drain", () => from.resume());
  to.once("close", () => from.resume());
  const end = (): void => attempt(() => relay.end());
  // A stream of HTTP/2 without a byte has ended before anybody could listen.
  if (from.readableEnded) end();
  else from.once("end", end);
  from.once("error", (error) => relay.fail(error));
}
