/** Splits the bytes of a segment into lines, in chunks, so that a segment of any length is read. */

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { lineMaxLength } from "./parse-record.ts";
import { lineFeed, readFully } from "./segment-end.ts";

/** A line of a segment. */
export interface SegmentLine {
  /** Its bytes; none of a line that is too long to be a record. */
  readonly line: Buffer;
  /** Offset in bytes. */
  readonly position: number;
  /** Length in bytes. */
  readonly length: number;
  /** SHA-256 of a line that is too long to be a record. */
  readonly longHash?: string;
}

/** Bytes of a line that can be a record. */
const lineMaxBytes = 4 * lineMaxLength;
const noLine = Buffer.alloc(0);
const chunkBytes = 1024 * 1024;
/** Lines after which other work of the process has its turn: a chunk can have a million lines. */
const turnLines = 1000;

/**
 * Yields the lines of an open segment, with an unfinished last one. An abort ends it within 1,000 lines or 1 MiB.
 *
 * @param onBytes called with all bytes, in order, each before the line that they end.
 * @throws the file system's error; `signal.reason`
 */
export async function* segmentLines(
  descriptor: number,
  signal?: AbortSignal,
  onBytes: (bytes: Buffer) => void = () => undefined,
): AsyncGenerator<SegmentLine, void, undefined> {
  let rest: Buffer = noLine;
  let position = 0;
  /** Bytes of a line that is too long to be a record, of which only the last chunk is kept. */
  let skipped = 0;
  let long = createHash("sha256");
  let lines = 0;
  const toLine = (line: Buffer): SegmentLine => {
    const length = skipped + line.length;
    const place = { position, length };
    position += length + 1;
    if (skipped === 0) return { line, ...place };
    const longHash = long.update(line).digest("hex");
    skipped = 0;
    long = createHash("sha256");
    return { line: noLine, ...place, longHash };
  };
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const chunk = readFully(descriptor, at, chunkBytes);
    if (chunk.length === 0) break;
    onBytes(chunk);
    at += chunk.length;
    if (at > chunk.length) await nextTurn();
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      yield toLine(bytes.subarray(start, end));
      start = end + 1;
      lines += 1;
      if (lines % turnLines !== 0) continue;
      await nextTurn();
      signal?.throwIfAborted();
    }
    rest = bytes.subarray(start);
    if (rest.length <= lineMaxBytes) continue;
    skipped += rest.length;
    long.update(rest);
    rest = noLine;
  }
  if (rest.length > 0 || skipped > 0) yield toLine(rest);
}
