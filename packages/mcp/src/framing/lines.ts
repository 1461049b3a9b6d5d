/**
 * Newline-delimited JSON over byte streams (the stdio transport): bytes to
 * messages, and messages to lines. A line that is not JSON is reported and
 * skipped. A line over the limit is discarded without being kept in memory.
 */

import type { Readable, Writable } from "node:stream";
import { messageOf } from "@toolcrib/diagnostics";
import { parseJson } from "@toolcrib/json";

/** Callbacks of a `LineDecoder`. */
export interface LineReceiver {
  message(value: unknown): void;
  /** Reports a line that is not a JSON value within the limits; `text` is its beginning. */
  invalid(reason: string, text: string): void;
}

const newline = 0x0a;
/** A buffer up to this size is kept for the next line that arrives in pieces. */
const keptBytes = 64 * 1024;

/** Decodes the chunks of one stream. */
export class LineDecoder {
  readonly #receiver: LineReceiver;
  readonly #maxBytes: number;
  /**
   * The beginning of a line that arrived in pieces. The buffer doubles when it is
   * full, so that a peer that sends single bytes costs memory for its bytes only.
   */
  #held: Buffer = Buffer.alloc(0);
  #heldLength = 0;
  /** Whether the rest of the current line is discarded. */
  #isSkipping = false;
  #isFirstLine = true;

  /** @param maxBytes longest line in bytes. */
  constructor(receiver: LineReceiver, maxBytes: number) {
    this.#receiver = receiver;
    this.#maxBytes = maxBytes;
  }

  /** Decodes one chunk and reports the lines that it completes. */
  write(chunk: Buffer): void {
    const isWholeLines =
      this.#heldLength === 0 &&
      !this.#isSkipping &&
      chunk.length <= this.#maxBytes &&
      chunk.at(-1) === newline;
    if (isWholeLines) {
      // The usual case, and faster to split as text. A line feed is never part of a longer character.
      for (const text of chunk.toString("utf8", 0, chunk.length - 1).split("\n")) this.#line(text);
      return;
    }
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, at);
      start = at + 1;
      this.#endLine(rest);
    }
    if (start === chunk.length || this.#isSkipping) return;
    const rest = start === 0 ? chunk : chunk.subarray(start);
    if (this.#heldLength + rest.length > this.#maxBytes) {
      this.#reportTooLong(rest);
      this.#isSkipping = true;
    } else this.#hold(rest);
  }

  #endLine(rest: Buffer): void {
    if (this.#isSkipping) {
      this.#isSkipping = false;
    } else if (this.#heldLength + rest.length > this.#maxBytes) {
      this.#reportTooLong(rest);
    } else if (this.#heldLength === 0) {
      this.#line(rest.toString("utf8"));
    } else {
      this.#hold(rest);
      const whole = this.#held.subarray(0, this.#heldLength);
      this.#release();
      this.#line(whole.toString("utf8"));
    }
  }

  #line(given: string): void {
    let text = given;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (text === "" || text.trim() === "") return;
    let value: unknown;
    try {
      value = parseJson(text, { maxLength: this.#maxBytes });
    } catch (error) {
      this.#receiver.invalid(messageOf(error), text.slice(0, 200));
      return;
    }
    this.#receiver.message(value);
  }

  #reportTooLong(rest: Buffer): void {
    const held = this.#held.subarray(0, Math.min(this.#heldLength, 200));
    const beginning = Buffer.concat([held, rest.subarray(0, 200)]);
    this.#release();
    this.#receiver.invalid(
      `a line is longer than ${this.#maxBytes} bytes`,
      beginning.toString("utf8", 0, 200),
    );
  }

  #hold(piece: Buffer): void {
    const length = this.#heldLength + piece.length;
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, Math.min(this.#maxBytes, this.#held.length * 2)));
      this.#held.copy(grown, 0, 0, this.#heldLength);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#heldLength);
    this.#heldLength = length;
  }

  #release(): void {
    this.#heldLength = 0;
    if (this.#held.length > keptBytes) this.#held = Buffer.alloc(0);
  }
}

/** Decodes `stream` until it ends. @returns a function that stops reading. */
export function readLines(stream: Readable, receiver: LineReceiver, maxBytes: number): () => void {
  const decoder = new LineDecoder(receiver, maxBytes);
  const decode = (chunk: Buffer) => decoder.write(chunk);
  stream.on("data", decode);
  return () => {
    stream.off("data", decode);
  };
}

/** Writes messages to a stream, one line each. All lines of one turn of the event loop leave in one write. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #onWritten: (() => void) | undefined;
  #pending = "";

  /** @param onWritten called after each write, to check how many bytes the stream still holds. */
  constructor(stream: Writable, onWritten?: () => void) {
    this.#stream = stream;
    this.#onWritten = onWritten;
  }

  write(message: unknown): void {
    // JSON.stringify escapes line feeds inside strings, so a message is one line.
    const line = `${JSON.stringify(message)}\n`;
    // Ticks run after all microtasks, so that concurrent calls leave in one write.
    if (this.#pending === "") process.nextTick(() => this.#flush());
    this.#pending += line;
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(text);
    this.#onWritten?.();
  }
}
