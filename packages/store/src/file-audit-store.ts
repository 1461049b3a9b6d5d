/**
 * The audit trail of a running process in segment files: its writer, the index
 * that follows it, and the deletion of old segments. The process that opens it
 * disposes of it.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { abortable, disposeOnce } from "@toolcrib/lifecycle";
import type { AuditEvents, AuditRecord, CallIntent, RecordableEventType } from "./audit-event.ts";
import { formatHead, HeadWriter, type Tombstone, writeTombstone } from "./audit-heads.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { AuditStore } from "./audit-store.ts";
import { type AuditStats, AuditWriter } from "./audit-writer.ts";
import { closeKilledRuns } from "./close-killed-runs.ts";
import type { HomeLayout } from "./home-layout.ts";
import { IndexHost } from "./index-host.ts";
import { pruneSegments } from "./prune-segments.ts";
import { type RunMarker, unmarkRun } from "./run-markers.ts";
import { StoreError } from "./store-error.ts";
import { type AuditTailOptions, tailTrail } from "./tail-trail.ts";
import { claimWriterLane } from "./writer-lane.ts";

/** Milliseconds between two checks for old segments. A finished segment causes a check, too. */
const pruneIntervalMs = 60 * 60 * 1000;

/** Milliseconds between two signatures of the end of the trail: what is written between them is not proved. */
const headIntervalMs = 60_000;

/** Dependencies of the trail. */
export interface FileAuditStoreDeps {
  readonly layout: HomeLayout;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Without it, the end of the trail is not signed. */
  readonly randomBytes: ((count: number) => Uint8Array) | undefined;
  readonly onProblem: (problem: StoreError) => void;
  /** Called with the line of each signed end of the trail. */
  readonly onHead: (line: string) => void;
  /** Called with the lines of records that were written. */
  readonly onLines: ((text: string) => void) | undefined;
}

/** The trail as one of the writers of the home. */
export class FileAuditStore implements AuditStore {
  readonly #deps: FileAuditStoreDeps;
  readonly #options: ResolvedAuditOptions;
  readonly #resources = new AsyncDisposableStack();
  readonly #index: IndexHost;
  readonly #writer: AuditWriter;
  #pruning: Promise<void> | undefined;
  #heads: HeadWriter | undefined;
  #signing: Promise<void> = Promise.resolve();
  readonly #dispose = disposeOnce(() => this.#resources.disposeAsync());

  /** Claims a writer number. @throws {StoreError} `STORE_HOME_UNUSABLE`, `STORE_WRITERS_EXHAUSTED` */
  constructor(deps: FileAuditStoreDeps, options: ResolvedAuditOptions) {
    this.#deps = deps;
    this.#options = options;
    const { layout, now, randomBytes, onProblem } = deps;
    const lane = claimWriterLane(layout);
    this.#index = new IndexHost(layout, onProblem);
    const events = {
      written: (count: number) => this.#index.notify(count),
      lines: deps.onLines,
      rotated: () => this.#prune(),
      problem: onProblem,
    };
    this.#writer = new AuditWriter(lane, { layout, now, events }, options);
    // Disposed of in reverse order: the writer number is free when its last record is written.
    this.#resources.use(lane.lock);
    this.#resources.use(this.#index);
    this.#resources.defer(async () => {
      await this.#writer.close();
      await this.#signHead();
      unmarkRun(layout, lane.run);
    });
    if (randomBytes !== undefined) {
      this.#heads = new HeadWriter(lane.writer, { layout, now, randomBytes });
      const signing = setInterval(() => this.#signHead(), headIntervalMs).unref();
      this.#resources.defer(() => clearInterval(signing));
    }
    this.#resources.defer(() => this.#pruning);
    const timer = setInterval(() => this.#prune(), pruneIntervalMs).unref();
    this.#resources.defer(() => clearInterval(timer));
    this.#prune();
    void this.#closeKilledRuns(lane.run);
  }

  intent(data: CallIntent, signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#writer.write("call.intent", data);
    if (signal.aborted) return Promise.reject(signal.reason);
    return abortable(this.#writer.write("call.intent", data), signal);
  }

  record<Type extends RecordableEventType>(type: Type, data: AuditEvents[Type]): void {
    this.#writer.record(type, data);
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  stats(): AuditStats {
    return this.#writer.stats();
  }

  async list(query: AuditListQuery = {}): Promise<readonly AuditRecord[]> {
    await this.#flushed();
    return this.#index.ask("list", query);
  }

  async show(callId: string): Promise<AuditCall | undefined> {
    await this.#flushed();
    return this.#index.ask("show", callId);
  }

  async problems(): Promise<readonly AuditProblem[]> {
    await this.#flushed();
    return this.#index.ask("problems", undefined);
  }

  tail(options: AuditTailOptions = {}): AsyncIterable<AuditRecord> {
    return tailTrail(this.#deps.layout.auditDirectory, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  /** A query includes the records of this process; when they cannot be written, it includes the rest. */
  #flushed(): Promise<void> {
    return this.#writer.flush().catch(() => undefined);
  }

  /** Not awaited: calls do not depend on it. What the end of this process interrupts, the next one does. */
  async #closeKilledRuns(own: RunMarker): Promise<void> {
    const { layout, onProblem } = this.#deps;
    try {
      await closeKilledRuns({
        layout,
        own,
        unfinished: (query) => this.#index.ask("unfinished", query),
        record: (data) => this.#writer.write("call.completed", data),
      });
    } catch (error) {
      if (this.#resources.disposed) return;
      onProblem(
        new StoreError(
          "AUDIT_INDEX_FAILED",
          `Cannot complete the records of calls that were in flight when a gateway was killed: ${messageOf(error)}`,
          { cause: error, hint: "the next start tries again" },
        ),
      );
    }
  }

  /** Signs the last written record. A failure is reported; calls do not depend on it. Never rejects. */
  #signHead(): Promise<void> {
    this.#signing = this.#signing.then(async () => {
      try {
        const { sequence, hash } = this.#writer.head();
        const head = await this.#heads?.write(sequence, hash);
        if (head !== undefined) this.#deps.onHead(formatHead(head));
      } catch (error) {
        this.#deps.onProblem(error as StoreError);
      }
    });
    return this.#signing;
  }

  #prune(): void {
    if (this.#resources.disposed || this.#pruning !== undefined) return;
    const { layout, now, randomBytes, onProblem } = this.#deps;
    const sign =
      randomBytes === undefined
        ? undefined
        : (tombstone: Tombstone) => writeTombstone({ layout, randomBytes }, tombstone);
    const record: Parameters<typeof pruneSegments>[0]["record"] = (data) =>
      this.#writer.write("audit.pruned", data);
    this.#pruning = pruneSegments({ layout, now, record, sign }, this.#options)
      .catch(onProblem)
      .finally(() => {
        this.#pruning = undefined;
      });
  }
}
