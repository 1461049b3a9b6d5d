/** A body on its way in, piece by piece: what a relay reads from, whichever connection it comes by. */

import { Readable } from "node:stream";

/** What is told of a body. After `end` or `fail` nothing more. */
export interface BodySink {
  /** The next bytes. They stay as they are until they are given back. */
  piece(piece: Buffer): void;
  end(): void;
  /** It broke off. */
  fail(error: Error): void;
}

/** A body that can be read once. */
export interface BodySource {
  /** Tell `sink` of it, from now on. */
  start(sink: BodySink): void;
  /** Tell of nothing more until `resume`. What was on its way may still come. */
  pause(): void;
  resume(): void;
  /** `piece` is not looked at any more. Its memory may be used again; where none of it is given back, it is not. */
  giveBack(piece: Buffer): void;
  /** Nobody wants it. */
  discard(): void;
}

/** The body that `stream` gives. */
export function fromReadable(stream: Readable): BodySource {
  return {
    start(sink) {
      stream.on("data", (piece: Buffer) => sink.piece(piece));
      // A stream of HTTP/2 without a byte has ended before anybody could listen.
      if (stream.readableEnded) sink.end();
      else stream.once("end", () => sink.end());
      stream.once("error", (error) => sink.fail(error));
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    giveBack: () => {},
    discard: () => void stream.resume(),
  };
}

/** A stream of `source`, for those who need one; it keeps copies. */
export function toReadable(source: BodySource): Readable {
  const stream = new Readable({
    read: () => source.resume(),
    destroy(error, done) {
      source.discard();
      done(error);
    },
  });
  source.start({
    piece(piece) {
      if (!stream.push(Buffer.from(piece))) source.pause();
      source.giveBack(piece);
    },
    end: () => void stream.push(null),
    fail: (error) => void stream.destroy(error),
  });
  return stream;
}
