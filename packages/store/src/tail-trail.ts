/**
 * Reads the end of the growing trail from the segments of all writers, without the
 * index, so that it works while other processes write. Polls for new lines five
 * times a second. Lines that are not records are skipped; `problems` lists them.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { NotRegularError } from "@toolcrib/files";
import type { AuditRecord } from "./audit-event.ts";
import { checkLimit } from "./audit-query.ts";
import { listSegments, newestSegments } from "./home-layout.ts";
import { compareRecords, parseRecord } from "./parse-record.ts";
import { lineFeed, readFully, readSegmentEnd } from "./segment-end.ts";
import { openSegment } from "./segment-file.ts";

/** Start and end of `tail`. */
export interface AuditTailOptions {
  /** Number of existing records to start with, 0 to 1,000. @default 10 */
  readonly limit?: number;
  /** Whether to continue with new records until aborted or left. @default false */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** Waits between two polls; rejects when `signal` aborts. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

const sleepByTimer: Sleep = (ms, signal) => delay(ms, undefined, { signal });

const pollMs = 200;
/** Bytes read from one segment at a time. */
const readMaxBytes = 256 * 1024;

/**
 * Yields the last records of the trail, oldest first, then new ones as they are
 * written. Records of several writers that are read together are sorted.
 *
 * @throws `signal.reason` when aborted; {StoreError} `AUDIT_QUERY_INVALID`.
 */
export async function* tailTrail(
  auditDirectory: string,
  { limit = 10, follow = false, signal }: AuditTailOptions,
  sleep: Sleep = sleepByTimer,
): AsyncGenerator<AuditRecord, void, undefined> {
  checkLimit(limit, 0);
  signal?.throwIfAborted();
  const positions = new Map<string, number>();
  yield* readEnds(auditDirectory, limit, positions);
  while (follow) {
    signal?.throwIfAborted();
    const { records, isMore } = readNew(auditDirectory, positions);
    for (const record of records) {
      yield record;
      signal?.throwIfAborted();
    }
    if (!isMore) await pause(sleep, signal);
  }
}

async function pause(sleep: Sleep, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(pollMs, signal);
  } catch (error) {
    // The timer rejects with an AbortError of its own.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Returns the last `limit` records, and sets the position from which each segment is read next. */
function readEnds(auditDirectory: string, limit: number, positions: Map<string, number>): AuditRecord[] {
  const segments = listSegments(auditDirectory);
  const newest = newestSegments(segments);
  const wanted = new Map<number, number>();
  const records: AuditRecord[] = [];
  // Reads backwards from the newest segment of each writer, as far as `limit` needs.
  for (const segment of segments.toReversed()) {
    const path = join(auditDirectory, segment.name);
    const missing = wanted.get(segment.writer) ?? limit;
    const isNewest = newest.get(segment.writer)?.name === segment.name;
    const end = isNewest || missing > 0 ? ifPresent(() => readSegmentEnd(path, missing)) : undefined;
    if (end !== undefined) {
      records.push(...end.records);
      wanted.set(segment.writer, missing - end.records.length);
    }
    positions.set(segment.name, isNewest ? (end?.completeBytes ?? 0) : Number.POSITIVE_INFINITY);
  }
  records.sort(compareRecords);
  return limit === 0 ? [] : records.slice(-limit);
}

/** Returns the records after `positions`, and moves the positions. */
function readNew(
  auditDirectory: string,
  positions: Map<string, number>,
): { readonly records: readonly AuditRecord[]; readonly isMore: boolean } {
  const records: AuditRecord[] = [];
  let isMore = false;
  const segments = listSegments(auditDirectory);
  const names = new Set(segments.map(({ name }) => name));
  for (const name of positions.keys()) if (!names.has(name)) positions.delete(name);
  for (const { name } of segments) {
    const path = join(auditDirectory, name);
    const position = positions.get(name) ?? 0;
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= position) continue;
    const chunk = ifPresent(() => readPart(path, position, Math.min(size - position, readMaxBytes)));
    if (chunk === undefined) continue;
    const consumed = takeLines(chunk, records);
    positions.set(name, position + consumed);
    if (position + consumed < size && consumed > 0) isMore = true;
  }
  return { records: records.sort(compareRecords), isMore };
}

/** Appends the records of the complete lines of `chunk` to `records`. Returns the length of these lines. */
function takeLines(chunk: Buffer, records: AuditRecord[]): number {
  let lineStart = 0;
  for (
    let lineEnd = chunk.indexOf(lineFeed);
    lineEnd !== -1;
    lineStart = lineEnd + 1, lineEnd = chunk.indexOf(lineFeed, lineStart)
  ) {
    const record = parseRecord(chunk.toString("utf8", lineStart, lineEnd));
    if (record !== undefined) records.push(record);
  }
  // A line that fills a whole read is not a record of this program.
  return lineStart === 0 && chunk.length === readMaxBytes ? chunk.length : lineStart;
}

function readPart(path: string, position: number, length: number): Buffer {
  using segment = openSegment(path);
  return readFully(segment.descriptor, position, length);
}

/** Returns the result of `read`; `undefined` for a file that was deleted meanwhile, or that is no regular one: `verifyTrail` names those. */
function ifPresent<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotRegularError || (error as NodeJS.ErrnoException).code === "ENOENT")
      return undefined;
    throw error;
  }
}
