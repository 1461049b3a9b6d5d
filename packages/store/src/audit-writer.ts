/**
 * The write path of the audit trail. All records of one turn of the event loop go
 * out in one write, in the order in which they were recorded. Records that arrive
 * during a write are collected for the next one.
 *
 * Invariants: an intent resolves only after its whole line is in the segment (and
 * on the disk, with `fsync`); sequence numbers and the hash of the line before
 * (hash-chain.ts) are assigned when a line is written, and the numbers have no gap; while nothing can be written, intents are refused and other
 * records are kept up to a limit, then counted; records of more than 100 seconds are not written before the end of
 * those before them is signed, unless signing fails. It never reads.
 */

import { reasonOf } from "@toolcrib/files";
import type { AuditClient, AuditEvents, AuditEventType } from "./audit-event.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import type { AuditStats, Entry, Signing, TrailEnd, WriterEvents } from "./audit-writer-types.ts";
import { BodyFormatter, toHeadParts } from "./format-record.ts";
import { type HomeLayout, toWriterId } from "./home-layout.ts";
import { LineBuffer } from "./line-buffer.ts";
import { type Admission, RecordBudget } from "./record-budget.ts";
import { SegmentAppender } from "./segment-appender.ts";
import { countLines, type LineFragment } from "./segment-end.ts";
import { StoreError } from "./store-error.ts";
import { UnsignedSpan } from "./unsigned-span.ts";
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

/** Milliseconds of unsigned records at which the writer waits for a signature: far more than between two of them as a rule. */
const signMaxMs = 90_000;
/** Milliseconds of unsigned records until a failed signature is tried again. */
const signRetryMs = 10_000;

/** Writes the records of one process. */
export class AuditWriter {
  readonly #options: ResolvedAuditOptions;
  readonly #events: WriterEvents;
  readonly #formatter: BodyFormatter;
  readonly #appender: SegmentAppender;
  readonly #lines: LineBuffer;
  readonly #writerId: string;
  readonly #directory: string;
  #queue: Entry[] = [];
  #queuedLength = 0;
  #sequence: number;
  /** Hash of the last written line. */
  #lastHash: string;
  readonly #budget: RecordBudget;
  readonly #sign: (() => Promise<void>) | undefined;
  readonly #unsigned = new UnsignedSpan();
  #signFromMs = signMaxMs;
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
    deps: {
      readonly layout: HomeLayout;
      readonly now: () => number;
      /** Identifies this process in the ids of its records. */
      readonly run: string;
      readonly events: WriterEvents;
    },
    options: ResolvedAuditOptions,
    signing?: Signing,
  ) {
    this.#options = options;
    this.#sign = signing?.sign;
    this.#events = deps.events;
    this.#formatter = new BodyFormatter(deps.now, options.recordMaxLength);
    this.#budget = new RecordBudget(options.clientMaxBytesPerDay);
    this.#writerId = toWriterId(lane.writer);
    this.#directory = deps.layout.auditDirectory;
    this.#sequence = lane.lastSequence;
    this.#lastHash = lane.lastHash;
    this.#lines = new LineBuffer(toHeadParts(options.source, this.#writerId, deps.run));
    this.#appender = new SegmentAppender(
      lane,
      {
        layout: deps.layout,
        now: deps.now,
        events: { rotated: deps.events.rotated, missing: (segment) => this.#reportMissing(segment) },
      },
      options,
    );
    // First: a record after an unfinished line that no record names would make it look like a changed one.
    this.#reportTornLines(lane);
    for (const { type, data } of signing?.opening ?? []) this.#append(type, data);
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
      const { time, timeMs } = this.#formatter;
      this.#enqueue({ body, time, timeMs, waiter: { resolve, reject }, isIntent });
      this.#schedule();
    });
  }

  /** Writes a record with one of the next batches. */
  record<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): void {
    if (this.#closed) throw closedError();
    const body = this.#formatter.body(type, data);
    const { time, timeMs } = this.#formatter;
    if (this.#admit(type, data, body) === "count") {
      this.#summary ??= setTimeout(() => this.#writeSummaries(), summaryDelayMs).unref();
      return;
    }
    if (this.#queuedLength + body.length > this.#options.pendingMaxLength) {
      this.#drop(time);
      return;
    }
    this.#enqueue({ body, time, timeMs, waiter: undefined, isIntent: false });
    if (this.#failing) this.#scheduleIn(retryDelayMs);
    else if (this.#queuedLength >= flushLength) this.#schedule();
    else this.#scheduleIn(flushDelayMs);
  }

  /** Resolves when everything recorded so far is written; rejects when that fails now. */
  flush(): Promise<void> {
    if (this.#queue.length === 0 && this.#batch === undefined) return Promise.resolve();
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#enqueue({ body: "", time: "", timeMs: 0, waiter: { resolve, reject }, isIntent: false });
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

  /** The last written record. */
  end(): TrailEnd {
    return { sequence: this.#sequence, hash: this.#lastHash, spanMs: this.#unsigned.spanMs };
  }

  /** Waits until everything that was written is on the disk. @throws the file system's error */
  sync(): Promise<void> {
    return this.#appender.sync();
  }

  /** Everything up to `end` is signed. */
  signed({ spanMs }: TrailEnd): void {
    this.#unsigned.subtract(spanMs);
    this.#signFromMs = signMaxMs;
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
    this.#batch = this.#isSignatureDue() ? this.#signAndWrite() : this.#writeBatch(this.#takeBatch());
    await this.#batch;
    this.#batch = undefined;
    if (this.#queue.length === 0) return;
    if (this.#failing) this.#scheduleIn(retryDelayMs);
    else this.#schedule();
  }

  /** Whether the next record would belong to a longer unsigned span than a crash may leave. */
  #isSignatureDue(): boolean {
    const next = this.#sign === undefined ? undefined : this.#queue.find(({ body }) => body !== "");
    return next !== undefined && this.#unsigned.with(next.timeMs) > this.#signFromMs;
  }

  async #signAndWrite(): Promise<void> {
    try {
      await this.#sign?.();
    } catch {
      // It was reported. Calls do not depend on signatures.
      this.#signFromMs = this.#unsigned.spanMs + signRetryMs;
    }
    await this.#writeBatch(this.#takeBatch());
  }

  #takeBatch(): readonly Entry[] {
    const batch = this.#takeByLength();
    if (this.#sign === undefined) return batch;
    // Records that waited for the disk can be of hours: the rest is written after a signature.
    const span = this.#unsigned.copy();
    const end = batch.findIndex(({ body, timeMs }, at) => {
      if (body !== "") span.take(timeMs);
      return at > 0 && span.spanMs > this.#signFromMs;
    });
    if (end === -1) return batch;
    const rest = batch.slice(end);
    this.#queue = [...rest, ...this.#queue];
    this.#queuedLength += rest.reduce((sum, { body }) => sum + body.length, 0);
    return batch.slice(0, end);
  }

  #takeByLength(): readonly Entry[] {
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
    const { bytes, hashes } = this.#lines.format(batch, { sequence: this.#sequence, hash: this.#lastHash });
    if (bytes.length === 0) return this.#settleWritten(batch, 0);
    const appended = await this.#appender.append(bytes);
    this.#writes += 1;
    this.#bytes += appended.bytes;
    if (appended.error === undefined) {
      this.#lastHash = hashes.at(-1) as string;
      this.#settleWritten(batch, hashes.length - 1);
      this.#events.lines?.(bytes.toString());
      if (this.#failing || this.#dropped !== undefined) this.#recover();
    } else {
      const landedCount = countLines(bytes, appended.bytes);
      this.#lastHash = hashes[landedCount] as string;
      const landed = bytes.toString().split("\n", landedCount).join("\n");
      this.#settleFailed(batch, landedCount, appended.error);
      if (landedCount > 0) this.#events.lines?.(landed);
      if (appended.torn !== undefined) this.#reportTorn(this.#appender.segment, appended.torn);
    }
  }

  #settleWritten(entries: readonly Entry[], lineCount: number): void {
    this.#sequence += lineCount;
    this.#records += lineCount;
    for (const { body, timeMs, waiter, isIntent } of entries) {
      if (body !== "") this.#unsigned.take(timeMs);
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

  /** Reports the unfinished lines that earlier processes left, in one record. */
  #reportTornLines({ fragments, ending }: WriterLane): void {
    const { segment } = this.#appender;
    const lines = ending.kind === "torn" ? [...fragments, { ...ending, segment }] : fragments;
    const [first, ...others] = lines.map(({ segment: name, position, bytes }) => {
      return { segment: name, position, bytes };
    });
    if (first === undefined) return;
    const further = others.length === 0 ? {} : { others };
    this.#append("audit.recovered", { ...first, reason: "torn", ...further });
    for (const line of [first, ...others]) this.#notifyTorn(line.segment, line);
  }

  /** Reports an unfinished line that a failed write left, before all records that wait. */
  #reportTorn(segment: string, { position, bytes }: LineFragment): void {
    const waiting = this.#queue;
    this.#queue = [];
    this.#append("audit.recovered", { segment, reason: "torn", position, bytes });
    this.#queue.push(...waiting);
    this.#notifyTorn(segment, { position, bytes });
  }

  #notifyTorn(segment: string, { position, bytes }: LineFragment): void {
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
    const { time, timeMs } = this.#formatter;
    this.#enqueue({ body, time, timeMs, waiter: undefined, isIntent: false });
    this.#scheduleIn(flushDelayMs);
  }
}

function closedError(): StoreError {
  return new StoreError("STORE_CLOSED", "Cannot write to the audit trail: the store is closed");
}
