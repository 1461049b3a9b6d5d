/** Relays a body in pieces, at the pace of the slower side. Keeps nothing. */

import type { Writable } from "node:stream";
import type { BodySource } from "./body-source.ts";

/** Handles the pieces of a body. */
export interface Relay {
  /** Returns the bytes to pass on instead of `piece`. An error ends the relay. */
  piece(piece: Buffer): readonly Uint8Array[];
  /** The body is complete. */
  end(): void;
  /** The body is incomplete, or a step threw. */
  fail(error: Error): void;
}

/** Relays `from` to `to`, which the caller ends. */
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
        // Bytes after the end of a response are read and dropped.
        if (to.destroyed || to.writableEnded) return from.giveBack(piece);
        const passed = relay.piece(piece);
        const last = passed.length - 1;
        if (last === -1) return from.giveBack(piece);
        let wantsMore = true;
        // The last write completes last.
        passed.forEach((bytes, index) => {
          wantsMore = index < last ? to.write(bytes) : to.write(bytes, () => from.giveBack(piece));
        });
        if (!wantsMore) from.pause();
      }),
    end: () => attempt(() => relay.end()),
    fail: (error) => relay.fail(error),
  });
}
