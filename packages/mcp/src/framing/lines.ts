/**
 * Newline-delimited JSON over byte streams (the stdio transport). Bytes in,
 * parsed messages out; lines that are not JSON are reported and skipped, a line
 * longer than the limit is dropped to its end without being kept in memory.
 */

import type { Readable, Writable } from "node:stream";
import { messageOf } from "@toolcrib/diagnostics";
import { parseJson } from "@toolcrib/json";

/** What a reader of lines hears. */
export interface LineReceiver {
  message(value: unknown): void;
  /** A line that is not a JSON value within the limits; `text` is its beginning. */
  garbage(reason: string, text: string): void;
}

const newline = 0x0a;
/** Buffers up to this size are kept for the next line that comes in pieces. */
const keptBytes = 64 * 1024;

/** Create a function that takes chunks and gives messages. @param maxBytes longest line in bytes. */
export function createLineDecoder(receiver: LineReceiver, maxBytes: number): (chunk: Buffer) => void {
  // The beginning of a line that came in pieces. It grows by doubling, so that a
  // peer which sends byte by byte costs memory for its bytes and not for its pieces.
  let held: Buffer = Buffer.alloc(0);
  let heldLength = 0;
  let isSkipping = false;
  let isFirst = true;

  function line(given: string): void {
    let text = given;
    if (isFirst) {
      isFirst = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (text === "" || text.trim() === "") return;
    let value: unknown;
    try {
      value = parseJson(text, { maxLength: maxBytes });
    } catch (error) {
      receiver.garbage(messageOf(error), text.slice(0, 200));
      return;
    }
    receiver.message(value);
  }

  function tooLong(rest: Buffer): void {
    const beginning = Buffer.concat([held.subarray(0, Math.min(heldLength, 200)), rest.subarray(0, 200)]);
    release();
    receiver.garbage(`a line is longer than ${maxBytes} bytes`, beginning.toString("utf8", 0, 200));
  }

  function hold(piece: Buffer): void {
    const length = heldLength + piece.length;
    if (length > held.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, Math.min(maxBytes, held.length * 2)));
      held.copy(grown, 0, 0, heldLength);
      held = grown;
    }
    piece.copy(held, heldLength);
    heldLength = length;
  }

  function release(): void {
    heldLength = 0;
    if (held.length > keptBytes) held = Buffer.alloc(0);
  }

  function end(rest: Buffer): void {
    if (isSkipping) {
      isSkipping = false;
    } else if (heldLength + rest.length > maxBytes) {
      tooLong(rest);
    } else if (heldLength === 0) {
      line(rest.toString("utf8"));
    } else {
      hold(rest);
      const whole = held.subarray(0, heldLength);
      release();
      line(whole.toString("utf8"));
    }
  }

  return (chunk) => {
    // Most chunks are whole lines, which are cheaper to take apart as text. A line feed is never part of a character.
    if (heldLength === 0 && !isSkipping && chunk.length <= maxBytes && chunk.at(-1) === newline) {
      for (const text of chunk.toString("utf8", 0, chunk.length - 1).split("\n")) line(text);
      return;
    }
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, at);
      start = at + 1;
      end(rest);
    }
    if (start === chunk.length || isSkipping) return;
    const rest = start === 0 ? chunk : chunk.subarray(start);
    if (heldLength + rest.length > maxBytes) {
      tooLong(rest);
      isSkipping = true;
    } else hold(rest);
  };
}

/** Feed `stream` to `receiver` until it ends. @returns a function that stops it. */
export function readLines(stream: Readable, receiver: LineReceiver, maxBytes: number): () => void {
  const decode = createLineDecoder(receiver, maxBytes);
  stream.on("data", decode);
  return () => {
    stream.off("data", decode);
  };
}

/**
 * Create a function that writes messages as lines. All lines of one turn of
 * the event loop go out in one write.
 *
 * @param onWritten called after each write, to look at how much the stream has not passed on.
 */
export function createLineWriter(stream: Writable, onWritten?: () => void): (message: unknown) => void {
  let pending = "";
  function flush(): void {
    const text = pending;
    pending = "";
    if (stream.destroyed || stream.writableEnded) return;
    stream.write(text);
    onWritten?.();
  }
  return (message) => {
    // JSON.stringify escapes line feeds inside strings, so a message is one line.
    const line = `${JSON.stringify(message)}\n`;
    // Ticks run after all microtasks, so that calls which go on together leave in one write.
    if (pending === "") process.nextTick(flush);
    pending += line;
  };
}
