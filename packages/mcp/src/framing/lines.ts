/**
 * Newline-delimited JSON over byte streams (the stdio transport). Bytes in,
 * parsed messages out; lines that are not JSON are reported and skipped, a line
 * longer than the limit is dropped to its end without being kept in memory.
 */

import type { Readable, Writable } from "node:stream";
import { parseJson } from "@toolcrib/json";

/** What a reader of lines hears. */
export interface LineReceiver {
  message(value: unknown): void;
  /** A line that is not a JSON value within the limits; `text` is its beginning. */
  garbage(reason: string, text: string): void;
}

const newline = 0x0a;

/** Create a function that takes chunks and gives messages. @param maxBytes longest line in bytes. */
export function createLineDecoder(receiver: LineReceiver, maxBytes: number): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let partsLength = 0;
  let isSkipping = false;

  function line(bytes: Buffer): void {
    const text = bytes.toString("utf8");
    if (text.trim() === "") return;
    let value: unknown;
    try {
      value = parseJson(text, { maxLength: maxBytes });
    } catch (error) {
      receiver.garbage((error as Error).message, text.slice(0, 200));
      return;
    }
    receiver.message(value);
  }

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end);
      start = end + 1;
      if (isSkipping) {
        isSkipping = false;
      } else if (partsLength === 0) {
        line(rest);
      } else {
        parts.push(rest);
        const whole = Buffer.concat(parts, partsLength + rest.length);
        parts = [];
        partsLength = 0;
        line(whole);
      }
    }
    if (start === chunk.length || isSkipping) return;
    partsLength += chunk.length - start;
    if (partsLength > maxBytes) {
      const beginning = Buffer.concat([...parts, chunk.subarray(start)]).toString("utf8", 0, 200);
      receiver.garbage(`a line is longer than ${maxBytes} bytes`, beginning);
      isSkipping = true;
      parts = [];
      partsLength = 0;
    } else {
      parts.push(chunk.subarray(start));
    }
  };
}

/** Feed `stream` to `receiver` until it ends. */
export function readLines(stream: Readable, receiver: LineReceiver, maxBytes: number): void {
  stream.on("data", createLineDecoder(receiver, maxBytes));
}

/**
 * Create a function that writes messages as lines. All lines of one turn of
 * the event loop go out in one write.
 */
export function createLineWriter(stream: Writable): (message: unknown) => void {
  let pending = "";
  function flush(): void {
    const text = pending;
    pending = "";
    if (!stream.destroyed && !stream.writableEnded) stream.write(text);
  }
  return (message) => {
    if (pending === "") queueMicrotask(flush);
    // JSON.stringify escapes line feeds inside strings, so a message is one line.
    pending += `${JSON.stringify(message)}\n`;
  };
}
