/**
 * The audit trail of a running process in segment files: its writer, the index
 * that follows it, and the deletion of old segments. The process that opens it
 * disposes of it.
 */

import assert from "node:assert/strict";
import { messageOf } from "@toolcrib/diagnostics";
import { reasonOf } from "@toolcrib/files";
import { abortable, disposeOnce } from "@toolcrib/lifecycle";
import type {
  AuditAccepted,
  AuditEvents,
  AuditRecord,
  CallIntent,
  RecordableEventType,
} from "./audit-event.ts";
import {
  addToWriters,
  formatHead,
  HeadWriter,
  readTombstones,
  type SignedFileDeps,
  type Tombstone,
  writeTombstone,
} from "./audit-heads.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { AuditStore } from "./audit-store.ts";
import { AuditWriter } from "./audit-writer.ts";
import type { AuditStats, StoreRecord } from "./audit-writer-types.ts";
import { closeKilledRuns } from "./close-killed-runs.ts";
import { type HomeLayout, toWriterId } from "./home-layout.ts";
import { homeHint } from "./home-lock.ts";
import { IndexHost } from "./index-host.ts";
import { pruneSegments } from "./prune-segments.ts";
import { type RunMarker, unmarkRun } from "./run-markers.ts";
import { openSigningKey } from "./signing-key.ts";
import { checkStart, keepHead, type StartState } from "./start-check.ts";
import { StoreError } from "./store-error.ts";
import { type AuditTailOptions, tailTrail } from "./tail-trail.ts";
import { signAccepted } from "./trail-findings.ts";
import { toRunId } from "./unsigned-tail.ts";
import { claimWriterLane, type WriterLane } from "./writer-lane.ts";

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
  /** Ids of calls of killed runs that go on. */
  readonly openCalls?: ReadonlySet<string> | undefined;
}

/** The state from which the writer of a signed trail starts. */
interface SignedStart {
  readonly files: SignedFileDeps;
  readonly state: StartState;
  readonly heads: HeadWriter;
}

/** The trail as one of the writers of the home. */
export class FileAuditStore implements AuditStore {
  readonly #deps: FileAuditStoreDeps;
  readonly #start: SignedStart | undefined;
  readonly #options: ResolvedAuditOptions;
  readonly #resources = new AsyncDisposableStack();
  readonly #index: IndexHost;
  readonly #writer: AuditWriter;
  #pruning: Promise<void> | undefined;
  readonly #lane: WriterLane;
  readonly #heads: HeadWriter | undefined;
  #signing: Promise<void> = Promise.resolve();
  /** Whether no record follows any more. */
  #isEnded = false;
  readonly #dispose = disposeOnce(() => this.#resources.disposeAsync());

  /**
   * Claims a writer number, compares the signed end with the trail, and signs the end before any other record.
   *
   * @param writer claims this number; the result is `undefined` while another process holds it. @default any
   * @throws {StoreError} `STORE_HOME_UNUSABLE`, `STORE_WRITERS_EXHAUSTED`, `STORE_UNREADABLE`, `AUDIT_UNWRITABLE`
   */
  static async open(deps: FileAuditStoreDeps, options: ResolvedAuditOptions): Promise<FileAuditStore>;
  static async open(
    deps: FileAuditStoreDeps,
    options: ResolvedAuditOptions,
    writer: number | undefined,
  ): Promise<FileAuditStore | undefined>;
  static async open(
    deps: FileAuditStoreDeps,
    options: ResolvedAuditOptions,
    writer?: number,
  ): Promise<FileAuditStore | undefined> {
    const { layout, randomBytes } = deps;
    const lane = claimWriterLane(layout, writer);
    if (lane === undefined) return undefined;
    await using opening = new AsyncDisposableStack();
    opening.use(lane.lock);
    opening.defer(() => unmarkRun(layout, lane.run));
    const { now } = deps;
    const run = toRunId(toWriterId(lane.writer), { timeMs: now(), pid: process.pid });
    const start =
      randomBytes === undefined ? undefined : await prepare(lane, run, { layout, randomBytes, now });
    const store = new FileAuditStore({ lane, run, start }, deps, options);
    try {
      await store.#begin();
    } catch (error) {
      // The reason is `error`; records that could not be written are those of the start.
      await store[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    opening.move();
    return store;
  }

  private constructor(
    {
      lane,
      run,
      start,
    }: { readonly lane: WriterLane; readonly run: string; readonly start: SignedStart | undefined },
    deps: FileAuditStoreDeps,
    options: ResolvedAuditOptions,
  ) {
    this.#deps = deps;
    this.#start = start;
    this.#options = options;
    const { layout, now, onProblem } = deps;
    this.#index = new IndexHost(layout, onProblem);
    const events = {
      written: (count: number) => this.#index.notify(count),
      lines: deps.onLines,
      rotated: () => this.#prune(),
      problem: onProblem,
    };
    const signing =
      start === undefined ? undefined : { opening: openingOf(start), sign: () => this.#signReported() };
    this.#writer = new AuditWriter(lane, { layout, now, run, events }, options, signing);
    // Disposed of in reverse order: the writer number is free when its last record is written.
    this.#resources.use(lane.lock);
    this.#resources.use(this.#index);
    this.#resources.defer(async () => {
      try {
        await this.#writer.close();
        // After a failure, what the disk has is not certain.
        this.#isEnded = !this.#writer.stats().failing;
      } finally {
        await this.#signReported().catch(() => undefined);
      }
      unmarkRun(layout, lane.run);
    });
    this.#heads = start?.heads;
    this.#lane = lane;
  }

  /** Writes and signs what comes before all other records, and begins the work in the background. */
  async #begin(): Promise<void> {
    const { layout, onProblem } = this.#deps;
    const writer = toWriterId(this.#lane.writer);
    if (this.#start !== undefined) {
      const { files, state } = this.#start;
      for (const { message } of state.damage)
        onProblem(
          new StoreError("AUDIT_DAMAGED", `The audit trail is not what was signed before: ${message}`, {
            hint: "see toolcrib audit verify; the trail continues, and the finding is on record until an operator accepts it",
          }),
        );
      if (state.damage.length > 0) await keepHead(files, writer);
      try {
        await this.#writer.flush();
        // An anchor of a trail without any other record than that of its key says nothing.
        await this.#sign(this.#lane.lastSequence === 0 ? () => undefined : this.#deps.onHead);
        if (!state.isListed && this.#writer.end().sequence > 0)
          await addToWriters(files, writer, state.listNumber);
      } catch (cause) {
        throw toUnwritableStart(layout, cause);
      }
      const signing = setInterval(() => this.#signReported().catch(() => undefined), headIntervalMs).unref();
      this.#resources.defer(() => clearInterval(signing));
    }
    this.#resources.defer(() => this.#pruning);
    const timer = setInterval(() => this.#prune(), pruneIntervalMs).unref();
    this.#resources.defer(() => clearInterval(timer));
    this.#prune();
    void this.#closeKilledRuns(this.#lane.run);
  }

  intent(data: CallIntent, signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#writer.write("call.intent", data);
    if (signal.aborted) return Promise.reject(signal.reason);
    return abortable(this.#writer.write("call.intent", data), signal);
  }

  record<Type extends RecordableEventType>(type: Type, data: AuditEvents[Type]): void {
    this.#writer.record(type, data);
  }

  /** Records that an operator accepted findings. Resolves when the record is written. @throws {StoreError} */
  accept(accepted: Omit<AuditAccepted, "signature">): Promise<void> {
    assert(this.#start !== undefined, "only a signed trail is accepted");
    return this.#writer.write("audit.accepted", signAccepted(this.#start.files.key, accepted));
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
    const { layout, onProblem, openCalls } = this.#deps;
    try {
      await closeKilledRuns({
        layout,
        own,
        openCalls,
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

  /** Signs the last written record, and reports a failure. */
  async #signReported(): Promise<void> {
    try {
      await this.#sign();
    } catch (error) {
      this.#deps.onProblem(
        error instanceof StoreError
          ? error
          : new StoreError("STORE_UNWRITABLE", `Cannot sign the end of the audit trail: ${reasonOf(error)}`, {
              cause: error,
            }),
      );
      throw error;
    }
  }

  /** Signs the last written record, one signature at a time. @throws {StoreError}; the file system's error */
  #sign(onHead: FileAuditStoreDeps["onHead"] = this.#deps.onHead): Promise<void> {
    const signing = this.#signing.then(async () => {
      const end = this.#writer.end();
      const isClosed = this.#isEnded;
      if (this.#heads === undefined || end.sequence === 0 || this.#heads.isStored(end.sequence, isClosed))
        return;
      const isNew = !this.#heads.isSigned(end.sequence);
      // What is signed is on the disk: after a power failure, the trail does not look cut off.
      await this.#writer.sync();
      const head = await this.#heads.write(end.sequence, end.hash, isClosed);
      this.#writer.signed(end);
      // An anchor of the same record says nothing else.
      if (isNew) onHead(formatHead(head));
    });
    this.#signing = signing.catch(() => undefined);
    return signing;
  }

  #prune(): void {
    if (this.#resources.disposed || this.#pruning !== undefined) return;
    const { layout, now, onProblem } = this.#deps;
    const files = this.#start?.files;
    const signed = files && {
      deletedOf: (writer: string) => readTombstones(layout, files.key).get(writer),
      sign: (tombstone: Tombstone) => writeTombstone(files, tombstone),
    };
    const record: Parameters<typeof pruneSegments>[0]["record"] = (data) =>
      this.#writer.write("audit.pruned", data);
    this.#pruning = pruneSegments({ layout, now, record, signed }, this.#options)
      .catch(onProblem)
      .finally(() => {
        this.#pruning = undefined;
      });
  }
}

/**
 * The key exists before the first record, and an end that is signed already is signed again as open and of this run, before
 * another record. @throws {StoreError}
 */
async function prepare(
  lane: WriterLane,
  run: string,
  { now, ...deps }: Omit<SignedFileDeps, "key"> & { readonly now: () => number },
): Promise<SignedStart> {
  const { layout } = deps;
  const { writer } = lane;
  try {
    const key = await openSigningKey(layout, deps.randomBytes);
    const files = { ...deps, key };
    const state = await checkStart(writer, lane, { layout, key });
    const { listNumber, isCurrent } = state;
    const stored = isCurrent ? state.head : undefined;
    const heads = new HeadWriter({ writer, run, listNumber }, stored, { ...files, now });
    if (stored === undefined) return { files, state, heads };
    const head = await heads.write(stored.sequence, stored.hash, false);
    return { files, state: { ...state, head }, heads };
  } catch (cause) {
    throw toUnwritableStart(layout, cause);
  }
}

/** The records of the store before all others. */
function openingOf({ files: { key }, state }: SignedStart): readonly StoreRecord[] {
  const { damage, head, needsKeyRecord } = state;
  const records: StoreRecord[] = [];
  if (needsKeyRecord) records.push({ type: "audit.key", data: { digest: key.digest, algorithm: "ed25519" } });
  if (damage.length > 0)
    records.push({
      type: "audit.damaged",
      data: { findings: damage, ...(head === undefined ? {} : { head }) },
    });
  return records;
}

function toUnwritableStart({ auditDirectory }: HomeLayout, cause: unknown): StoreError {
  if (cause instanceof StoreError && cause.code !== "STORE_UNWRITABLE") return cause;
  const origin = (cause as Error).cause ?? cause;
  return new StoreError(
    "AUDIT_UNWRITABLE",
    `Cannot start the audit trail in "${auditDirectory}": ${reasonOf(origin)}`,
    { cause, hint: homeHint },
  );
}
