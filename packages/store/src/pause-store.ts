/**
 * The interface of the store of pauses: what the operator stopped. Types only. The engine of
 * one machine keeps one file in the home (file-pause-store.ts).
 *
 * The store stops no call.
 */

import type { Pause, PauseTarget } from "@toolcrib/guards";
import type { StoreError } from "./store-error.ts";

/** The pauses as of the last read. */
export type PauseState =
  | { readonly kind: "known"; readonly pauses: readonly Pause[] }
  /** They cannot be read: what is paused is not known, which is not the same as nothing. */
  | { readonly kind: "unreadable"; readonly problem: StoreError };

/**
 * The pauses of one home, which several open stores share.
 *
 * A change is atomic, and a change that resolved is visible to every later read of every store.
 * Limits: 1,000 pauses that have not expired.
 */
export interface PauseStore extends AsyncDisposable {
  /** Returns the state as of the last read; the same object while nothing changed. No I/O. */
  current(): PauseState;
  /** Reads changes of other processes, for `current`. Never rejects. */
  refresh(): Promise<void>;
  /** Returns all pauses that have not expired at `now`, the earliest first. @throws {StoreError} `STORE_UNREADABLE`, `STORE_CLOSED` */
  list(now: number): Promise<readonly Pause[]>;
  /**
   * Adds a pause; it replaces one of the same target. Pauses that expired before `pausedAt` are removed.
   *
   * @throws {StoreError} `STORE_FULL`, `STORE_RECORD_TOO_LARGE`, `STORE_BUSY`, `STORE_UNWRITABLE`, and as `list`.
   *   Nothing is changed, except after a `STORE_UNWRITABLE` of a disk that did not confirm the change.
   */
  put(pause: Pause): Promise<void>;
  /** Removes a pause. @returns whether there was one @throws {StoreError} as `put` */
  delete(target: PauseTarget): Promise<boolean>;
}
