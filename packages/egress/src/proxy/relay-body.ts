/** A body from one side to the other, piece by piece, as fast as the slower side takes it. Keeps nothing. */

import type { Writable } from "node:stream";
import type { BodySource } from "./body-source.ts";

/** What is done with the pieces of a body. */
export interface Relay {
  /** What goes on in the place of a piece: nothing, it, or others. What it throws ends the relay. */
  piece(piece: Buffer): readonly Uint8Array[];
  /** The body came to its end. */
  end(): void;
  /** The body broke off, or a step threw. */
  fail(error: Error): void;
}

/** Relay `from` to `to`, which the caller ends. */
export function relayBody(from: BodySource, to: Writable, relay: Relay): void {
  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      relay.fail(error as Error);
    }
  };
  to.on("drain", () => from.resume());
  to.once("close", () => from.resume());
  from.start({
    piece: (piece) =>
      attempt(() => {
        // What comes behind a response that is over is read and dropped.
        if (to.destroyed || to.writableEnded) return from.giveBack(piece);
        const passed = relay.piece(piece);
        const last = passed.length - 1;
        if (last === -1) return from.giveBack(piece);
        let wantsMore = true;
        // What was written last is over last.
        passed.forEach((bytes, index) => {
          wantsMore = index < last ? to.write(bytes) : to.write(bytes, () => from.giveBack(piece));
        });
        if (!wantsMore) from.pause();
      }),
    end: () => attempt(() => relay.end()),
    fail: (error) => relay.fail(error),
  });
}
