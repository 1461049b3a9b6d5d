/** A body that arrives in pieces, from any kind of connection: the input of a relay. */

import { Readable } from "node:stream";

/** Receives a body. No call follows `end` or `fail`. */
export interface BodySink {
  /** The next bytes. They remain valid until `giveBack`. */
  piece(piece: Buffer): void;
  end(): void;
  /** The body is incomplete. */
  fail(error: Error): void;
}

/** A body that can be read once. */
export interface BodySource {
  /** Starts passing the body to `sink`. */
  start(sink: BodySink): void;
  /** Pauses until `resume`. Pieces that were already read can still arrive. */
  pause(): void;
  resume(): void;
  /** Returns `piece` after its last use, so that its memory can be reused. A piece that is not returned keeps its memory. */
  giveBack(piece: Buffer): void;
  /** Drops the body. */
  discard(): void;
}

/** Returns the body that `stream` carries. */
export function fromReadable(stream: Readable): BodySource {
  return {
    start(sink) {
      stream.on("data", (piece: Buffer) => sink.piece(piece));
      // An empty HTTP/2 stream has already ended when the listener is added.
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

/** Returns `source` as a stream, which copies the pieces. */
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
