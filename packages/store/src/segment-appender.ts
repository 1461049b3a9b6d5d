/**
 * The files of one writer: appends bytes to its newest segment, starts a new
 * segment by size and age, and reopens the file after a failure.
 *
 * It only appends: nothing is removed from a segment, not even the part of a batch
 * that was written before the disk was full. Calls of `append` must not overlap.
 */

import {
  close,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  mkdirSync,
  open,
  openSync,
  stat,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import { type HomeLayout, toSegmentName } from "./home-layout.ts";
import { lineFeed } from "./segment-end.ts";
import type { WriterLane } from "./writer-lane.ts";

/** The result of one `append`. */
export interface Appended {
  /** Number of bytes that are in the segment. */
  readonly bytes: number;
  /** Why not all bytes were written, or why they may not be durable. */
  readonly error?: Error;
  /** The unfinished line that a failure left at the end of the segment. */
  readonly torn?: { readonly position: number; readonly bytes: number };
}

const closeFile = promisify(close);
const openFile = promisify(open);
const statFile = promisify(stat);
const syncFile = promisify(fdatasync);
const syncDirectory = promisify(fsync);

const appendFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
/** Milliseconds between two checks that the segment still exists. */
const presenceCheckMs = 1000;

/** Events of an appender. */
export interface AppenderEvents {
  /** A segment was finished and the next one started. */
  readonly rotated: () => void;
  /** Another program removed the segment; writing continues in a new one. */
  readonly missing: (segment: string) => void;
}

/** Appends to the segments of one writer. */
export class SegmentAppender {
  readonly #layout: HomeLayout;
  readonly #options: ResolvedAuditOptions;
  readonly #now: () => number;
  readonly #events: AppenderEvents;
  readonly #writer: number;
  #number: number;
  #startedAt: number;
  /** Whether the next byte would continue an unfinished line. */
  #lineOpen: boolean;
  #descriptor: number | undefined;
  #size = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(
    lane: WriterLane,
    deps: { readonly layout: HomeLayout; readonly now: () => number; readonly events: AppenderEvents },
    options: ResolvedAuditOptions,
  ) {
    this.#layout = deps.layout;
    this.#now = deps.now;
    this.#events = deps.events;
    this.#options = options;
    this.#writer = lane.writer;
    this.#number = lane.segment?.number ?? 1;
    this.#startedAt = lane.segmentStartedAt ?? deps.now();
    this.#lineOpen = lane.ending.kind !== "whole";
  }

  /** File name of the segment that is written to. */
  get segment(): string {
    return toSegmentName(this.#writer, this.#number);
  }

  /** Appends `bytes`, which end in a line feed. Never rejects. */
  async append(bytes: Buffer): Promise<Appended> {
    let written = 0;
    try {
      await this.#prepare();
      // Ends an unfinished line of an earlier failure or of a writer that crashed.
      if (this.#lineOpen) {
        this.#size += writeSome(this.#descriptor!, Buffer.of(lineFeed), 0);
        this.#lineOpen = false;
      }
      while (written < bytes.length) {
        const count = writeSome(this.#descriptor!, bytes, written);
        written += count;
        this.#size += count;
      }
      if (this.#options.durability === "fsync") await syncFile(this.#descriptor!);
      return { bytes: written };
    } catch (thrown) {
      await this.#drop();
      if (written > 0) this.#lineOpen = bytes[written - 1] !== lineFeed;
      const error = thrown as Error;
      // A line that lacks only its line feed is complete: the next append ends it.
      if (written === 0 || !this.#lineOpen || bytes[written] === lineFeed) return { bytes: written, error };
      const tornBytes = written - 1 - bytes.lastIndexOf(lineFeed, written - 1);
      return { bytes: written, error, torn: { position: this.#size - tornBytes, bytes: tornBytes } };
    }
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#drop();
  }

  async #prepare(): Promise<void> {
    const now = this.#now();
    if (this.#descriptor === undefined) {
      await this.#openSegment(0);
    } else if (Math.abs(now - this.#checkedAt) >= presenceCheckMs) {
      await this.#checkPresence();
      this.#checkedAt = now;
    }
    if (this.#size > 0 && (this.#size >= this.#options.segmentMaxBytes || this.#isOld(now))) {
      await this.#startNext();
      this.#events.rotated();
    }
  }

  #isOld(now: number): boolean {
    return now - this.#startedAt >= this.#options.segmentMaxAgeMs;
  }

  async #startNext(): Promise<void> {
    await this.#drop();
    this.#number += 1;
    this.#startedAt = this.#now();
    this.#lineOpen = false;
    await this.#openSegment(0);
  }

  async #checkPresence(): Promise<void> {
    const opened = fstatSync(this.#descriptor!);
    const path = join(this.#layout.auditDirectory, this.segment);
    const named = await statFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (named !== undefined && named.ino === opened.ino && named.dev === opened.dev) return;
    const lost = this.segment;
    await this.#startNext();
    this.#events.missing(lost);
  }

  async #openSegment(attempt: number): Promise<void> {
    const directory = this.#layout.auditDirectory;
    const path = join(directory, this.segment);
    try {
      this.#descriptor = await openFile(path, appendFlags, 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt > 0) throw error;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return this.#openSegment(attempt + 1);
    }
    const status = fstatSync(this.#descriptor);
    if (!status.isFile()) throw new Error(`"${path}" is not a regular file`);
    this.#size = status.size;
    this.#checkedAt = this.#now();
    if (status.size === 0) {
      this.#startedAt = this.#checkedAt;
      this.#lineOpen = false;
      if (this.#options.durability === "fsync") await syncPath(directory);
    }
  }

  async #drop(): Promise<void> {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    // Closing can report a write error of a network file system; the result of the batch is known by then.
    if (descriptor !== undefined) await closeFile(descriptor).catch(() => undefined);
  }
}

/**
 * Writes synchronously: a write to the page cache takes about ten microseconds, less
 * than a round trip to another thread.
 */
function writeSome(descriptor: number, bytes: Buffer, offset: number): number {
  return writeSync(descriptor, bytes, offset, bytes.length - offset, null);
}

async function syncPath(directory: string): Promise<void> {
  // Windows cannot open a directory and needs no sync of it.
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  try {
    await syncDirectory(descriptor);
  } finally {
    await closeFile(descriptor);
  }
}
