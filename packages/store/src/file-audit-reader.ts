/**
 * Reads the audit trail of a home from outside, for the command line, with or
 * without a gateway that writes to it. It writes no records and creates no home.
 * The index is updated where that is permitted and the disk has space, and built in memory otherwise.
 * Queries run in the thread of the caller.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditRecord } from "./audit-event.ts";
import { AuditIndex } from "./audit-index.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { AuditReader } from "./audit-store.ts";
import { type HomeLayout, toHomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";
import { type AuditTailOptions, type Sleep, tailTrail } from "./tail-trail.ts";

/** Dependencies of a reader. */
export interface AuditReaderDeps {
  /** Called with a defect of the index that was repaired. @default no call */
  readonly onProblem?: (problem: StoreError) => void;
  /** Waits between two polls of `tail`; rejects when `signal` aborts. @default `setTimeout` of `node:timers/promises` */
  readonly sleep?: Sleep;
}

/**
 * Opens the trail of the home directory `home` for reading. A home that does not
 * exist is an empty trail.
 */
export async function openAuditReader(
  { home }: { readonly home: string },
  { onProblem = () => undefined, sleep }: AuditReaderDeps = {},
): Promise<AuditReader> {
  return new FileAuditReader(toHomeLayout(home), onProblem, sleep);
}

class FileAuditReader implements AuditReader {
  readonly #layout: HomeLayout;
  readonly #index: AuditIndex;
  readonly #sleep: Sleep | undefined;
  #isClosed = false;

  constructor(layout: HomeLayout, onProblem: (problem: StoreError) => void, sleep: Sleep | undefined) {
    this.#layout = layout;
    this.#sleep = sleep;
    this.#index = new AuditIndex(layout, onProblem, { usesMemoryWhenFull: true });
  }

  list(query: AuditListQuery = {}): Promise<readonly AuditRecord[]> {
    return this.#ask(() => this.#index.list(query));
  }

  show(callId: string): Promise<AuditCall | undefined> {
    return this.#ask(() => this.#index.show(callId));
  }

  problems(): Promise<readonly AuditProblem[]> {
    return this.#ask(() => this.#index.problems());
  }

  tail(options: AuditTailOptions = {}): AsyncIterable<AuditRecord> {
    return tailTrail(this.#layout.auditDirectory, options, this.#sleep);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#index.close();
  }

  /** Index new records in slices, so that signals are handled in between, and then run the query. */
  async #ask<Answer>(query: () => Answer): Promise<Answer> {
    do {
      this.#assertOpen();
      await nextTurn();
    } while (!this.#isClosed && this.#index.step());
    this.#assertOpen();
    return query();
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new StoreError("STORE_CLOSED", "Cannot read the audit trail: the reader is closed");
  }
}
