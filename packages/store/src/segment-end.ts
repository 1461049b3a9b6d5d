/**
 * Reads the end of a segment backwards: its last records and the rest after the last
 * line feed. A writer continues there, and `tail` starts there.
 */

import { fstatSync, readSync } from "node:fs";
import type { AuditRecord } from "./audit-event.ts";
import { hashLine } from "./hash-chain.ts";
import { parseRecord } from "./parse-record.ts";
import { type OpenSegment, openSegment } from "./segment-file.ts";

/** The end of a segment. */
export interface SegmentEnd {
  /** The last records, oldest first, without lines that are not records. */
  readonly records: readonly AuditRecord[];
  /** Hash of the line of the last record (hash-chain.ts); undefined without one. */
  readonly lastHash: string | undefined;
  /** Number of bytes up to and including the last line feed. */
  readonly completeBytes: number;
  /** Bytes after the last line feed: none when the segment is complete. */
  readonly unfinished: Buffer;
  /** Complete lines after the last record: a process that was killed while it continued after an unfinished line leaves them. At most 100. */
  readonly fragments: readonly LineFragment[];
}

/** A line that is not a record. */
export interface LineFragment {
  /** Offset in bytes. */
  readonly position: number;
  /** Length in bytes without its line feed. */
  readonly bytes: number;
}

const fragmentsMax = 100;

const firstChunkBytes = 64 * 1024;

/**
 * Reads the end of the segment at `path`: enough for `recordLimit` records.
 *
 * @throws {NotRegularError}; the file system's error.
 */
export function readSegmentEnd(path: string, recordLimit: number): SegmentEnd {
  using segment = openSegment(path);
  const { descriptor } = segment;
  const { size } = fstatSync(descriptor);
  // Each round reads twice as much, so that the work is proportional to the result.
  for (let length = firstChunkBytes; ; length *= 2) {
    const start = Math.max(0, size - length);
    const chunk = readFully(descriptor, start, size - start);
    const end = endOf(chunk, start, recordLimit);
    if (start === 0 || end.records.length >= recordLimit) return end;
  }
}

/** Returns the first record of the segment at `path`; `undefined` when its first line is not a record. @throws as `readSegmentEnd` */
export function readFirstRecord(path: string): AuditRecord | undefined {
  using segment = openSegment(path);
  return firstRecordIn(segment);
}

/** As `readFirstRecord`, of an open segment. @throws the file system's error */
export function firstRecordIn({ descriptor }: OpenSegment): AuditRecord | undefined {
  const { size } = fstatSync(descriptor);
  for (let length = firstChunkBytes; ; length *= 2) {
    const chunk = readFully(descriptor, 0, Math.min(size, length));
    const lineEnd = chunk.indexOf(lineFeed);
    if (lineEnd !== -1) return parseRecord(chunk.toString("utf8", 0, lineEnd));
    if (length >= size) return undefined;
  }
}

/**
 * Reads `length` bytes from `position`, or fewer at the end of the file.
 *
 * @param buffer where to, with room for `length` bytes. @default a new one
 */
export function readFully(
  descriptor: number,
  position: number,
  length: number,
  buffer: Buffer = Buffer.allocUnsafe(length),
): Buffer {
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** The byte that ends every line. */
export const lineFeed = 0x0a;

function endOf(chunk: Buffer, start: number, recordLimit: number): SegmentEnd {
  const completeLength = chunk.lastIndexOf(lineFeed) + 1;
  const records: AuditRecord[] = [];
  const fragments: LineFragment[] = [];
  let lastHash: string | undefined;
  let lineEnd = completeLength - 1;
  while (lineEnd >= 0 && records.length < recordLimit) {
    const lineStart = lineEnd === 0 ? 0 : chunk.lastIndexOf(lineFeed, lineEnd - 1) + 1;
    // A line that starts before this chunk is read completely in the next iteration.
    if (lineStart === 0 && start > 0) break;
    const record = parseRecord(chunk.toString("utf8", lineStart, lineEnd));
    if (record !== undefined) {
      lastHash ??= hashLine(chunk.subarray(lineStart, lineEnd));
      records.push(record);
    } else if (records.length === 0 && fragments.length < fragmentsMax) {
      fragments.push({ position: start + lineStart, bytes: lineEnd - lineStart });
    }
    lineEnd = lineStart - 1;
  }
  return {
    records: records.reverse(),
    lastHash,
    completeBytes: start + completeLength,
    unfinished: Buffer.from(chunk.subarray(completeLength)),
    fragments: fragments.reverse(),
  };
}

/** Counts the lines before `end`. A line that lacks only its line feed counts. */
export function countLines(bytes: Buffer, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1 && at <= end; at = bytes.indexOf(lineFeed, at + 1)) {
    count += 1;
  }
  return count;
}
