/**
 * Reads a whole trail from its segments, oldest record first, in portions: the
 * memory that it takes does not depend on the length of the trail. It uses no index, and works while gateways write.
 *
 * The records of one writer stay in the order in which they were written; those of several writers are merged by time.
 *
 * All segments are opened before the first is read: an export also has those that retention deletes while it runs. By default
 * there are some 64, and one more for each writer and week; their space is free when the export ends.
 */

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { NotRegularError, reasonOf } from "@toolcrib/files";
import type { AuditRecord } from "./audit-event.ts";
import { listSegments, type SegmentName, toHomeLayout } from "./home-layout.ts";
import { compareRecords, lineMaxLength, parseRecord } from "./parse-record.ts";
import { lineFeed, readFully } from "./segment-end.ts";
import { type OpenSegment, openSegmentIfPresent } from "./segment-file.ts";
import { StoreError } from "./store-error.ts";

/** A record, and its line as it is stored, without the line feed. */
export interface TrailLine {
  readonly record: AuditRecord;
  readonly line: string;
}

/** Options of `readTrail`. */
export interface ReadTrailOptions {
  /** Called for each complete line that is not a record. @default they are skipped */
  readonly onUnreadable?: () => void;
  readonly signal?: AbortSignal;
}

/** Bytes that are read from one segment at a time. */
const chunkBytes = 256 * 1024;
/** Bytes of a line that can be a record. */
const lineMaxBytes = 4 * lineMaxLength;
/** Records of one portion. */
const portionMaxCount = 500;

/**
 * Yields the records of the home directory `home` in portions of up to 500. A home that does not exist is an empty trail.
 *
 * @throws {StoreError} `AUDIT_UNREADABLE`; `signal.reason`
 */
export async function* readTrail(
  home: string,
  { onUnreadable = () => undefined, signal }: ReadTrailOptions = {},
): AsyncGenerator<readonly TrailLine[], void, undefined> {
  const { auditDirectory } = toHomeLayout(home);
  const byWriter = Map.groupBy(listSegments(auditDirectory), ({ writer }) => writer);
  using cursors = new DisposableStack();
  let open: WriterCursor[] = [];
  for (const segments of byWriter.values())
    open.push(cursors.use(new WriterCursor(auditDirectory, segments, onUnreadable)));
  let portion: TrailLine[] = [];
  while (true) {
    signal?.throwIfAborted();
    for (const cursor of open) if (cursor.first === undefined) await cursor.fill();
    open = open.filter((cursor) => cursor.first !== undefined);
    if (open.length === 0) break;
    // Takes records until one of the writers has none in memory.
    for (let oldest = oldestOf(open); oldest !== undefined; oldest = oldestOf(open)) {
      portion.push(oldest.take());
      if (portion.length < portionMaxCount) continue;
      yield portion;
      portion = [];
      signal?.throwIfAborted();
    }
  }
  if (portion.length > 0) yield portion;
}

/** The cursor with the oldest record; `undefined` when one of them must be filled first. */
function oldestOf(cursors: readonly WriterCursor[]): WriterCursor | undefined {
  let oldest: WriterCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.first === undefined) return undefined;
    if (oldest?.first === undefined || compareRecords(cursor.first.record, oldest.first.record) < 0)
      oldest = cursor;
  }
  return oldest;
}

/** The place in the segments of one writer, and the records of one chunk. */
class WriterCursor implements Disposable {
  /** Those that are not read to their end, the oldest first. */
  readonly #segments: HeldSegment[];
  readonly #onUnreadable: () => void;
  /** Bytes of the segment that were read. */
  #position = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** Whether the beginning of the line in `#rest` was discarded: it is too long to be a record. */
  #isSkipping = false;
  #lines: TrailLine[] = [];
  #at = 0;

  /** @throws {StoreError} `AUDIT_UNREADABLE` */
  constructor(directory: string, segments: readonly SegmentName[], onUnreadable: () => void) {
    this.#segments = holdSegments(directory, segments);
    this.#onUnreadable = onUnreadable;
  }

  get first(): TrailLine | undefined {
    return this.#lines[this.#at];
  }

  take(): TrailLine {
    const line = this.#lines[this.#at] as TrailLine;
    this.#at += 1;
    return line;
  }

  /** Reads until there is a record, or the last segment has ended. @throws {StoreError} `AUDIT_UNREADABLE` */
  async fill(): Promise<void> {
    this.#lines = [];
    this.#at = 0;
    while (this.#lines.length === 0) {
      const [segment] = this.#segments;
      if (segment === undefined) return;
      try {
        await nextTurn();
        const chunk = readFully(segment.file.descriptor, this.#position, chunkBytes);
        this.#position += chunk.length;
        if (chunk.length > 0) this.#takeChunk(chunk);
        else this.#endSegment();
      } catch (cause) {
        throw unreadable(segment.name, cause);
      }
    }
  }

  [Symbol.dispose](): void {
    for (const { file } of this.#segments.splice(0)) file[Symbol.dispose]();
  }

  #endSegment(): void {
    // The last line of the newest segment may be incomplete: a writer is writing it.
    if (this.#rest.length > 0 && this.#segments.length > 1) this.#takeLine(this.#rest);
    this.#rest = Buffer.alloc(0);
    this.#isSkipping = false;
    this.#position = 0;
    this.#segments.shift()?.file[Symbol.dispose]();
  }

  #takeChunk(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      if (this.#isSkipping) this.#onUnreadable();
      else this.#takeLine(bytes.subarray(start, end));
      this.#isSkipping = false;
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length <= lineMaxBytes) return;
    this.#rest = Buffer.alloc(0);
    this.#isSkipping = true;
  }

  #takeLine(bytes: Buffer): void {
    const line = bytes.toString("utf8");
    const record = parseRecord(line);
    if (record === undefined) this.#onUnreadable();
    else this.#lines.push({ record, line });
  }
}

/** A segment that is open. */
interface HeldSegment {
  readonly name: string;
  readonly file: OpenSegment;
}

/**
 * Opens segments of one writer, the newest first: retention deletes the oldest first, so that those that are still there follow
 * each other.
 *
 * @returns the oldest first, without those that retention has deleted
 * @throws {StoreError} `AUDIT_UNREADABLE`
 */
function holdSegments(directory: string, segments: readonly SegmentName[]): HeldSegment[] {
  using opened = new DisposableStack();
  const held: HeldSegment[] = [];
  for (const { name } of segments.toReversed()) {
    try {
      const file = openSegmentIfPresent(join(directory, name));
      if (file === undefined) break;
      held.unshift({ name, file: opened.use(file) });
    } catch (cause) {
      throw unreadable(name, cause);
    }
  }
  opened.move();
  return held;
}

function unreadable(segment: string, cause: unknown): StoreError {
  const hint =
    cause instanceof NotRegularError
      ? "move it out of the folder audit of the home"
      : "let the user who runs the command read the folder audit of the home";
  const message = `Cannot read audit segment "${segment}": ${reasonOf(cause)}`;
  return new StoreError("AUDIT_UNREADABLE", message, { cause, hint });
}
