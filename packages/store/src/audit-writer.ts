/**
 * The write path of the audit trail. All records of one turn of the event loop go
 * out in one write, in the order in which they were recorded. Records that arrive
 * during a write are collected for the next one.
 *
 * Invariants: an intent resolves only after its whole line is in the segment (and
 * on the disk, with `fsync`); sequence numbers and the hash of the line before
 * (hash-chain.ts) are assigned when a line is written, and the numbers have no gap; while nothing can be written, intents are refused and other
 * records are kept up to a limit, then counted. It never reads.
 */

import { reasonOf } from "@toolcrib/files";
import type { AuditClient, AuditEvents, AuditEventType } from "./audit-event.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import { BodyFormatter, type HeadParts, toHead, toHeadParts } from "./format-record.ts";
import { hashLine } from "./hash-chain.ts";
import { type HomeLayout, toWriterId } from "./home-layout.ts";
import { type Admission, RecordBudget } from "./record-budget.ts";
import { SegmentAppender } from "./segment-appender.ts";
import { lineFeed } from "./segment-end.ts";
import { StoreError } from "./store-error.ts";
import type { WriterLane } from "./writer-lane.ts";

/** Longest time that a record other than an intent stays in memory. */
const flushDelayMs = 50;
/** UTF-16 units of pending records at which they are written at once. */
const flushLength = 256 * 1024;
/** Milliseconds until a failed write is retried, unless an intent retries it earlier. */
const retryDelayMs = 1000;
/** Milliseconds between two records about refusals that are only counted. */
const summaryDelayMs = 60_000;
/** Maximum number of UTF-16 units of a batch. A turn that records more takes several writes. */
const batchMaxLength = 8 * 1024 * 1024;

/** Counters since the store was opened, and the position of the writer. */
export interface AuditStats {
  /** Number of this writer among those of the home, three digits. */
  readonly writer: string;
  /** File name of the segment that is written to. */
  readonly segment: string;
  /** Sequence number of the last written record; 0 before the first. */
  readonly sequence: number;
  /** Records written, intents included. */
  readonly records: number;
  readonly intents: number;
  /** Intents that were refused because they could not be written. */
  readonly refusedIntents: number;
  /** Other records that were discarded. */
  readonly droppedRecords: number;
  /** Records that are not written yet. */
  readonly pendingRecords: number;
  readonly writes: number;
  readonly failedWrites: number;
  readonly bytes: number;
  /** Whether the last write failed. */
  readonly failing: boolean;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A line to write. An empty body writes nothing and waits for everything before it. */
interface Entry {
  readonly body: string;
  readonly time: string;
  readonly waiter: Waiter | undefined;
  readonly isIntent: boolean;
}

/** Events of the writer. */
export interface WriterEvents {
  /** Records were written. */
  readonly written: (count: number) => void;
  /** The lines of these records, each with its line feed. @default no call */
  readonly lines?: ((text: string) => void) | undefined;
  /** A segment was finished. */
  readonly rotated: () => void;
  readonly problem: (problem: StoreError) => void;
}

/** Writes the records of one process. */
export class AuditWriter {
  readonly #options: ResolvedAuditOptions;
  readonly #events: WriterEvents;
  readonly #formatter: BodyFormatter;
  readonly #appender: SegmentAppender;
  readonly #headParts: HeadParts;
  readonly #writerId: string;
  readonly #directory: string;
  #queue: Entry[] = [];
  #queuedLength = 0;
  #sequence: number;
  /** Hash of the last written line. */
  #lastHash: string;
  readonly #budget: RecordBudget;
  #summary: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #delay: NodeJS.Timeout | undefined;
  #batch: Promise<void> | undefined;
  #failing = false;
  #dropped: { count: number; from: string; to: string } | undefined;
  #closed = false;
  #records = 0;
  #intents = 0;
  #refusedIntents = 0;
  #droppedRecords = 0;
  #writes = 0;
  #failedWrites = 0;
  #bytes = 0;

  constructor(
    lane: WriterLane,
    deps: { readonly layout: HomeLayout; readonly now: () => number; readonly events: WriterEvents },
    options: ResolvedAuditOptions,
  ) {
    this.#options = options;
    this.#events = deps.events;
    this.#formatter = new BodyFormatter(deps.now, options.recordMaxLength);
    this.#budget = new RecordBudget(options.clientMaxBytesPerDay);
    this.#writerId = toWriterId(lane.writer);
    this.#directory = deps.layout.auditDirectory;
    this.#sequence = lane.lastSequence;
    this.#lastHash = lane.lastHash;
    // Unique for each run: a writer number has one holder at a time, and a process opens it at most once in a millisecond.
    const run = `${deps.now().toString(36)}.${process.pid.toString(36)}.${this.#writerId}`;
    this.#headParts = toHeadParts(options.source, this.#writerId, run);
    this.#appender = new SegmentAppender(
      lane,
      {
        layout: deps.layout,
        now: deps.now,
        events: { rotated: deps.events.rotated, missing: (segment) => this.#reportMissing(segment) },
      },
      options,
    );
    if (lane.ending.kind === "torn") this.#reportTorn(this.#appender.segment, lane.ending);
  }

  /** Writes a record. Resolves when it is written. */
  write<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw closedError();
      const body = this.#formatter.body(type, data);
      const admission = this.#admit(type, data, body);
      if (admission === "refuse" || admission === "refuse-first") {
        const error = this.#spentError(data);
        if (admission === "refuse-first") this.#events.problem(error);
        throw error;
      }
      const isIntent = type === "call.intent";
      if (this.#queuedLength + body.length > this.#options.pendingMaxLength) {
        if (isIntent) this.#refusedIntents += 1;
        throw new StoreError(
          "AUDIT_UNWRITABLE",
          "Cannot write the audit trail: too many records are pending",
          {
            hint: "the disk is too slow or does not respond",
          },
        );
      }
      this.#enqueue({ body, time: this.#formatter.time, waiter: { resolve, reject }, isIntent });
      this.#schedule();
    });
  }

  /** Writes a record with one of the next batches. */
  record<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): void {
    if (this.#closed) throw closedError();
    const body = this.#formatter.body(type, data);
    const { time } = this.#formatter;
    if (this.#admit(type, data, body) === "count") {
      this.#summary ??= setTimeout(() => this.#writeSummaries(), summaryDelayMs).unref();
      return;
    }
    if (this.#queuedLength + body.length > this.#options.pendingMaxLength) {
      this.#drop(time);
      return;
    }
    this.#enqueue({ body, time, waiter: undefined, isIntent: false });
    if (this.#failing) this.#scheduleIn(retryDelayMs);
    else if (this.#queuedLength >= flushLength) this.#schedule();
    else this.#scheduleIn(flushDelayMs);
  }

  /** Resolves when everything recorded so far is written; rejects when that fails now. */
  flush(): Promise<void> {
    if (this.#queue.length === 0 && this.#batch === undefined) return Promise.resolve();
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#enqueue({ body: "", time: "", waiter: { resolve, reject }, isIntent: false });
      this.#schedule();
    });
  }

  /** Writes pending records and closes the segment; safe to repeat. Rejects when records remain unwritten. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#writeSummaries();
    this.#closed = true;
    do {
      await this.#writeNext();
    } while (this.#queue.length > 0 && !this.#failing);
    clearTimeout(this.#delay);
    clearImmediate(this.#turn);
    await this.#appender.close();
    if (!this.#failing) return;
    for (const { waiter } of this.#queue) waiter?.reject(closedError());
    const waitingCount = this.#queue.filter((entry) => entry.waiter === undefined).length;
    const lostCount = waitingCount + (this.#dropped?.count ?? 0);
    if (lostCount === 0) return;
    throw new StoreError(
      "AUDIT_UNWRITABLE",
      `Cannot write the end of the audit trail; records lost: ${lostCount}`,
    );
  }

  /** The last written record: its number, 0 before the first, and the hash of its line. */
  head(): { readonly sequence: number; readonly hash: string } {
    return { sequence: this.#sequence, hash: this.#lastHash };
  }

  stats(): AuditStats {
    return {
      writer: this.#writerId,
      segment: this.#appender.segment,
      sequence: this.#sequence,
      records: this.#records,
      intents: this.#intents,
      refusedIntents: this.#refusedIntents,
      droppedRecords: this.#droppedRecords,
      pendingRecords: this.#queue.length,
      writes: this.#writes,
      failedWrites: this.#failedWrites,
      bytes: this.#bytes,
      failing: this.#failing,
    };
  }

  #enqueue(entry: Entry): void {
    this.#queue.push(entry);
    this.#queuedLength += entry.body.length;
  }

  /**
   * Writes at the end of this turn. The check phase follows all callbacks of the
   * poll phase, so the batch includes every request of the turn.
   */
  #schedule(): void {
    if (this.#turn !== undefined || this.#batch !== undefined) return;
    this.#turn = setImmediate(() => {
      this.#turn = undefined;
      void this.#writeNext();
    });
  }

  #scheduleIn(delayMs: number): void {
    if (this.#delay !== undefined) return;
    this.#delay = setTimeout(() => {
      this.#delay = undefined;
      if (this.#queue.length > 0) this.#schedule();
    }, delayMs);
    // A full disk must not keep a finished process alive.
    if (this.#failing) this.#delay.unref();
  }

  async #writeNext(): Promise<void> {
    if (this.#batch !== undefined) return this.#batch;
    if (this.#queue.length === 0) return;
    this.#batch = this.#writeBatch(this.#takeBatch());
    await this.#batch;
    this.#batch = undefined;
    if (this.#queue.length === 0) return;
    if (this.#failing) this.#scheduleIn(retryDelayMs);
    else this.#schedule();
  }

  #takeBatch(): readonly Entry[] {
    if (this.#queuedLength <= batchMaxLength) {
      const all = this.#queue;
      this.#queue = [];
      this.#queuedLength = 0;
      return all;
    }
    let length = 0;
    let count = 0;
    while (count < this.#queue.length && length < batchMaxLength) {
      length += this.#queue[count]!.body.length;
      count += 1;
    }
    this.#queuedLength -= length;
    return this.#queue.splice(0, count);
  }

  async #writeBatch(batch: readonly Entry[]): Promise<void> {
    let text = "";
    let next = this.#sequence;
    const hashes = [this.#lastHash];
    for (const { body } of batch) {
      if (body === "") continue;
      next += 1;
      const line = toHead(this.#headParts, next, hashes.at(-1) as string) + body;
      // Without its line feed.
      hashes.push(hashLine(line.slice(0, -1)));
      text += line;
    }
    if (text === "") return this.#settleWritten(batch, 0);
    const bytes = Buffer.from(text);
    const appended = await this.#appender.append(bytes);
    this.#writes += 1;
    this.#bytes += appended.bytes;
    if (appended.error === undefined) {
      this.#lastHash = hashes.at(-1) as string;
      this.#settleWritten(batch, next - this.#sequence);
      this.#events.lines?.(text);
      if (this.#failing || this.#dropped !== undefined) this.#recover();
    } else {
      const landedCount = countLines(bytes, appended.bytes);
      this.#lastHash = hashes[landedCount] as string;
      this.#settleFailed(batch, landedCount, appended.error);
      if (landedCount > 0) this.#events.lines?.(text.split("\n", landedCount).join("\n"));
      if (appended.torn !== undefined) this.#reportTorn(this.#appender.segment, appended.torn);
    }
  }

  #settleWritten(entries: readonly Entry[], lineCount: number): void {
    this.#sequence += lineCount;
    this.#records += lineCount;
    for (const { waiter, isIntent } of entries) {
      if (isIntent) this.#intents += 1;
      waiter?.resolve();
    }
    if (lineCount > 0) this.#events.written(lineCount);
  }

  /** `landedCount` lines are in the segment despite the failure and keep their numbers. */
  #settleFailed(batch: readonly Entry[], landedCount: number, cause: Error): void {
    this.#failedWrites += 1;
    const landed: Entry[] = [];
    const others: Entry[] = [];
    for (const entry of batch) {
      if (entry.body !== "" && landed.length < landedCount) landed.push(entry);
      else others.push(entry);
    }
    const failure = new StoreError(
      "AUDIT_UNWRITABLE",
      `Cannot write the audit trail in "${this.#directory}": ${reasonOf(cause)}`,
      {
        cause,
        hint: "free disk space, make the file system of the home directory writable, or use another home with --home; calls are refused until then",
      },
    );
    // Without its sync, a line in the segment is not durable, so its intent is refused.
    if (this.#options.durability === "fsync") {
      for (const { waiter, isIntent } of landed) {
        if (isIntent) this.#refusedIntents += 1;
        waiter?.reject(failure);
      }
      this.#settleWritten(
        landed.map((entry) => ({ ...entry, waiter: undefined, isIntent: false })),
        landedCount,
      );
    } else {
      this.#settleWritten(landed, landedCount);
    }
    // Later intents are refused too, instead of waiting for the disk.
    const kept: Entry[] = [];
    let keptLength = 0;
    for (const entry of others.concat(this.#queue)) {
      if (entry.waiter === undefined) {
        kept.push(entry);
        keptLength += entry.body.length;
      } else {
        if (entry.isIntent) this.#refusedIntents += 1;
        entry.waiter.reject(failure);
      }
    }
    this.#queue = kept;
    this.#queuedLength = keptLength;
    if (!this.#failing) {
      this.#failing = true;
      this.#events.problem(failure);
    }
  }

  #admit<Type extends AuditEventType>(type: Type, data: AuditEvents[Type], body: string): Admission {
    return this.#budget.admit(type, data, { bytes: body.length, now: this.#formatter.timeMs });
  }

  /** Records the refusals that were only counted. */
  #writeSummaries(): void {
    clearTimeout(this.#summary);
    this.#summary = undefined;
    for (const summary of this.#budget.takeSummaries()) this.#append("audit.limited", summary);
  }

  #spentError(data: object): StoreError {
    const { client } = data as { readonly client?: AuditClient };
    return new StoreError(
      "AUDIT_BUDGET_EXCEEDED",
      `The calls of "${client?.name}" have used the ${this.#options.clientMaxBytesPerDay} bytes of audit records that one client may cause in 24 hours`,
      { hint: "wait until earlier calls are 24 hours old, or raise audit.client_max_bytes_per_day" },
    );
  }

  #recover(): void {
    this.#failing = false;
    const dropped = this.#dropped;
    if (dropped === undefined) return;
    this.#dropped = undefined;
    this.#append("audit.dropped", dropped);
    this.#events.problem(
      new StoreError(
        "AUDIT_RECORDS_DROPPED",
        `Discarded ${dropped.count} records while the audit trail could not be written`,
      ),
    );
  }

  #drop(time: string): void {
    this.#droppedRecords += 1;
    this.#dropped ??= { count: 0, from: time, to: time };
    this.#dropped.count += 1;
    this.#dropped.to = time;
  }

  #reportTorn(
    segment: string,
    { position, bytes }: { readonly position: number; readonly bytes: number },
  ): void {
    this.#append("audit.recovered", { segment, reason: "torn", position, bytes });
    this.#events.problem(
      new StoreError(
        "AUDIT_SEGMENT_DAMAGED",
        `Audit segment "${segment}" ended in an unfinished line of ${bytes} bytes at byte ${position}; writing continues after it`,
      ),
    );
  }

  #reportMissing(segment: string): void {
    this.#append("audit.recovered", { segment, reason: "missing" });
    this.#events.problem(
      new StoreError(
        "AUDIT_SEGMENT_DAMAGED",
        `Audit segment "${segment}" was removed while it was in use; writing continues in "${this.#appender.segment}"`,
      ),
    );
  }

  /** Enqueues a record of the store itself: allowed while closing, never discarded. */
  #append<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): void {
    const body = this.#formatter.body(type, data);
    this.#enqueue({ body, time: this.#formatter.time, waiter: undefined, isIntent: false });
    this.#scheduleIn(flushDelayMs);
  }
}

/** Counts the lines before `end`. A line that lacks only its line feed counts. */
function countLines(bytes: Buffer, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1 && at <= end; at = bytes.indexOf(lineFeed, at + 1)) {
    count += 1;
  }
  return count;
}

function closedError(): StoreError {
  return new StoreError("STORE_CLOSED", "Cannot write to the audit trail: the store is closed");
}
