/**
 * The files of one writer: appends bytes to its newest segment, starts a new
 * segment by size and age, and reopens the file after a failure.
 *
 * It only appends: nothing is removed from a segment, not even the part of a batch
 * that was written before the disk was full. Calls of `append` must not overlap.
 */

import { close, constants, fdatasync, fstatSync, fsync, mkdirSync, open, stat, writeSync } from "node:fs";
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
const syncAll = promisify(fsync);

// Never through a link, and never waiting for the reader of a pipe. Windows has neither flag.
const guardFlags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const appendFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | guardFlags;
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
  /** Segments that were written to since the last `sync`. */
  readonly #unsynced = new Set<string>();

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
    let whole = bytes;
    try {
      await this.#prepare();
      this.#unsynced.add(this.segment);
      // Ends an unfinished line of an earlier failure or of a writer that crashed, in the same write: a process that is
      // killed leaves no ended line that nothing explains.
      if (this.#lineOpen) whole = Buffer.concat([Buffer.of(lineFeed), bytes]);
      while (written < whole.length) {
        const count = writeSome(this.#descriptor!, whole, written);
        written += count;
        this.#size += count;
      }
      this.#lineOpen = false;
      if (this.#options.durability === "fsync") await syncFile(this.#descriptor!);
      return { bytes: bytes.length };
    } catch (thrown) {
      await this.#drop();
      if (written > 0) this.#lineOpen = whole[written - 1] !== lineFeed;
      const error = thrown as Error;
      const landed = Math.max(0, written - (whole.length - bytes.length));
      // A line that lacks only its line feed is complete: the next append ends it.
      if (landed === 0 || !this.#lineOpen || bytes[landed] === lineFeed) return { bytes: landed, error };
      const tornBytes = landed - 1 - bytes.lastIndexOf(lineFeed, landed - 1);
      return { bytes: landed, error, torn: { position: this.#size - tornBytes, bytes: tornBytes } };
    }
  }

  /** Waits until everything that was appended is on the disk. @throws the file system's error */
  async sync(): Promise<void> {
    const directory = this.#layout.auditDirectory;
    const names = [...this.#unsynced];
    for (const name of names) {
      this.#unsynced.delete(name);
      try {
        await syncPath(join(directory, name), constants.O_RDWR | guardFlags);
      } catch (error) {
        // Retention or another program removed it.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
        this.#unsynced.add(name);
        throw error;
      }
    }
    if (names.length > 0) await syncDirectory(directory);
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
      if (this.#options.durability === "fsync") await syncDirectory(directory);
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

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open a directory and needs no sync of it.
  if (process.platform !== "win32") await syncPath(directory, constants.O_RDONLY);
}

async function syncPath(path: string, flags: number): Promise<void> {
  const descriptor = await openFile(path, flags);
  try {
    await syncAll(descriptor);
  } finally {
    await closeFile(descriptor);
  }
}
