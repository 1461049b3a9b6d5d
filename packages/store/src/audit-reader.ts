/**
 * Reading the trail of a home from outside: for the command line, with or
 * without a gateway that writes there. It writes no records and creates no
 * home; the index is brought up to date where that is allowed, else built in
 * memory. Questions run in the caller's thread.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditRecord } from "./audit-event.ts";
import { AuditIndex } from "./audit-index.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import { toHomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";
import { type AuditTailOptions, tailTrail } from "./tail-trail.ts";

/** Questions about an audit trail. Every answer includes what was written before it was asked for. */
export interface AuditQueries {
  /** The records that meet the conditions, newest first. @throws {StoreError} `AUDIT_QUERY_INVALID`, `AUDIT_INDEX_FAILED` */
  list(query?: AuditListQuery): Promise<readonly AuditRecord[]>;
  /** A call with its inner calls; `undefined` when nothing is known of it. @throws {StoreError} `AUDIT_INDEX_FAILED` */
  show(callId: string): Promise<AuditCall | undefined>;
  /** What is wrong with the segments. @throws {StoreError} `AUDIT_INDEX_FAILED` */
  problems(): Promise<readonly AuditProblem[]>;
  /**
   * The last records, oldest first, and with `follow` new ones of all writers
   * as they come. Leave the loop or abort `signal` to end it.
   *
   * @throws `signal.reason` when aborted.
   */
  tail(options?: AuditTailOptions): AsyncIterable<AuditRecord>;
}

/** The trail of a home, for reading. */
export type AuditReader = AuditQueries & AsyncDisposable;

/** What a reader may need to tell. */
export interface AuditReaderDeps {
  /** Told what is wrong with the index and mended by itself. @default nobody */
  readonly onProblem?: (problem: StoreError) => void;
}

/**
 * Open the trail of the home directory `home` for reading. A home that does not
 * exist is an empty trail.
 */
export async function openAuditReader(
  { home }: { readonly home: string },
  { onProblem = () => undefined }: AuditReaderDeps = {},
): Promise<AuditReader> {
  const layout = toHomeLayout(home);
  const index = new AuditIndex(layout, onProblem);
  let isClosed = false;
  /** Catch up in slices, so that a long way leaves room for signals, then ask. */
  const ask = async <Answer>(question: () => Answer): Promise<Answer> => {
    do {
      if (isClosed) throw new StoreError("STORE_CLOSED", "Cannot read the audit trail: the reader is closed");
      await nextTurn();
    } while (!isClosed && index.step());
    if (isClosed) throw new StoreError("STORE_CLOSED", "Cannot read the audit trail: the reader is closed");
    return question();
  };
  return {
    list: (query = {}) => ask(() => index.list(query)),
    show: (callId) => ask(() => index.show(callId)),
    problems: () => ask(() => index.problems()),
    tail: (options = {}) => tailTrail(layout.auditDirectory, options),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      index.close();
    },
  };
}
