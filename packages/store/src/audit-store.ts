/**
 * The interface of the audit trail: an append-only record of events, and queries
 * about it. Types only. The engine of one machine keeps segment files and an
 * index (file-audit-store.ts, file-audit-reader.ts); every engine passes the
 * contract tests of this package.
 */

import type { AuditEvents, AuditRecord, CallIntent, RecordableEventType } from "./audit-event.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { AuditStats } from "./audit-writer-types.ts";
import type { AuditTailOptions } from "./tail-trail.ts";

/** Queries about an audit trail. A result includes everything that was written before the query. */
export interface AuditQueries {
  /** Returns the records that meet the conditions, newest first. @throws {StoreError} `AUDIT_QUERY_INVALID`, `AUDIT_INDEX_FAILED` */
  list(query?: AuditListQuery): Promise<readonly AuditRecord[]>;
  /** Returns a call with its inner calls; `undefined` when it has no records. @throws {StoreError} `AUDIT_INDEX_FAILED` */
  show(callId: string): Promise<AuditCall | undefined>;
  /** Returns the defects of the stored trail. @throws {StoreError} `AUDIT_INDEX_FAILED` */
  problems(): Promise<readonly AuditProblem[]>;
  /**
   * Yields the last records, oldest first, and with `follow` new records of all
   * writers as they are written. Leave the loop or abort `signal` to end it.
   *
   * @throws `signal.reason` when aborted.
   */
  tail(options?: AuditTailOptions): AsyncIterable<AuditRecord>;
}

/** An audit trail that is open for reading. */
export type AuditReader = AuditQueries & AsyncDisposable;

/** The audit trail of a running process. Disposing writes pending records. */
export interface AuditStore extends AuditQueries, AsyncDisposable {
  /**
   * Records that a call is about to be dispatched. All intents of one turn of the
   * event loop go out in one write, before any of them resolves.
   *
   * @param signal stops waiting; the record may be written all the same.
   * @throws {StoreError} `AUDIT_UNWRITABLE`, `AUDIT_RECORD_TOO_LARGE`, `STORE_CLOSED`: the call must not be made. The
   *   next intent tries again.
   */
  intent(data: CallIntent, signal?: AbortSignal): Promise<void>;
  /**
   * Records any other event. It is written within 50 ms; while nothing can be
   * written it is kept and retried.
   *
   * @throws {StoreError} `STORE_CLOSED`, `AUDIT_RECORD_TOO_LARGE`.
   */
  record<Type extends RecordableEventType>(type: Type, data: AuditEvents[Type]): void;
  /** Resolves when everything recorded so far is written. @throws {StoreError} `AUDIT_UNWRITABLE` */
  flush(): Promise<void>;
  /** Returns counters since the trail was opened. Cheap. */
  stats(): AuditStats;
}
