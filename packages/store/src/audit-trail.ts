/**
 * The audit trail of a running process: its writer, the index behind it, and
 * the housekeeping of segments. Whoever opens it owns it and closes it.
 */

import type { AuditEvents, CallIntent, RecordableEventType } from "./audit-event.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import type { AuditQueries } from "./audit-reader.ts";
import { type AuditStats, AuditWriter } from "./audit-writer.ts";
import type { HomeLayout } from "./home-layout.ts";
import { IndexHost } from "./index-host.ts";
import { pruneSegments } from "./prune-segments.ts";
import type { StoreError } from "./store-error.ts";
import { tailTrail } from "./tail-trail.ts";
import { claimWriterLane } from "./writer-lane.ts";

/** The append-only record of what happened, and questions about it. */
export interface AuditTrail extends AuditQueries {
  /**
   * Write that a call is about to be dispatched. All intents of one turn of the
   * event loop go out in one write, before any of them resolves.
   *
   * @param signal stops waiting; the record may be written all the same.
   * @throws {StoreError} `AUDIT_UNWRITABLE`, `AUDIT_RECORD_TOO_LARGE`, `STORE_CLOSED`:
   *   the call must not be made. The next intent tries again.
   */
  intent(data: CallIntent, signal?: AbortSignal): Promise<void>;
  /**
   * Record anything else; written within 50 ms, kept and tried again while
   * nothing can be written.
   *
   * @throws {StoreError} `STORE_CLOSED`, `AUDIT_RECORD_TOO_LARGE`.
   */
  record<Type extends RecordableEventType>(type: Type, data: AuditEvents[Type]): void;
  /** Resolve when everything recorded so far is written. @throws {StoreError} `AUDIT_UNWRITABLE` */
  flush(): Promise<void>;
  /** Counters since the trail was opened. Cheap. */
  stats(): AuditStats;
}

/** How often old segments are looked for, besides when a segment is finished. */
const pruneIntervalMs = 60 * 60 * 1000;

/** What the trail needs of the world. */
export interface AuditTrailDeps {
  readonly layout: HomeLayout;
  readonly clock: () => number;
  readonly onProblem: (problem: StoreError) => void;
}

/**
 * Open the trail for writing, as one of the writers of the home.
 *
 * @throws {StoreError} `STORE_HOME_UNUSABLE`, `STORE_WRITERS_EXHAUSTED`.
 */
export function openAuditTrail(
  deps: AuditTrailDeps,
  options: ResolvedAuditOptions,
): AuditTrail & AsyncDisposable {
  const { layout, clock, onProblem } = deps;
  const lane = claimWriterLane(layout);
  const host = new IndexHost(layout, onProblem);
  let pruning: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  const prune = () => {
    if (closing !== undefined) return;
    pruning ??= pruneSegments(
      { layout, clock, record: (data) => writer.write("audit.pruned", data) },
      options,
    )
      .catch(onProblem)
      .finally(() => {
        pruning = undefined;
      });
  };
  const writer = new AuditWriter(
    lane,
    { layout, clock, events: { written: (count) => host.notify(count), rotated: prune, problem: onProblem } },
    options,
  );
  prune();
  const timer = setInterval(prune, pruneIntervalMs);
  timer.unref();
  const close = async () => {
    clearInterval(timer);
    await pruning;
    try {
      await writer.close();
    } finally {
      await host[Symbol.asyncDispose]();
      lane.lock[Symbol.dispose]();
    }
  };
  /** A question sees what this process has recorded; when that cannot be written, it sees the rest. */
  const flushed = () => writer.flush().catch(() => undefined);
  return {
    intent: (data, signal) => {
      if (signal === undefined) return writer.write("call.intent", data);
      if (signal.aborted) return Promise.reject(signal.reason);
      return untilAborted(writer.write("call.intent", data), signal);
    },
    record: (type, data) => writer.record(type, data),
    flush: () => writer.flush(),
    stats: () => writer.stats(),
    list: async (query = {}) => {
      await flushed();
      return host.ask("list", query);
    },
    show: async (callId) => {
      await flushed();
      return host.ask("show", callId);
    },
    problems: async () => {
      await flushed();
      return host.ask("problems", undefined);
    },
    tail: (tailOptions = {}) => tailTrail(layout.auditDirectory, tailOptions),
    [Symbol.asyncDispose]() {
      closing ??= close();
      return closing;
    },
  };
}

async function untilAborted(written: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([written, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
