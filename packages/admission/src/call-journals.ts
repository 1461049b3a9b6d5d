/**
 * Calls that stopped because an inner call waits for the operator's approval. The results of the inner calls that
 * were made are kept, so that the same call, made again after the approval, continues: its program runs again, and each
 * inner call that was made gets its result without being made a second time. The approval of the call
 * itself holds for its continuation.
 *
 * A journal belongs to one client, tool, definition, arguments, plan of steps, policy and outer tool, and a result in it
 * to an exact inner call. It is continued at most once at a time. It is in memory only: after a restart, or when it
 * is too large or too old, the call begins anew, with a new approval.
 */

import type { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { FairShare } from "@toolcrib/lifecycle";

/** The end of an inner call. */
export type InnerOutcome =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "failed"; readonly error: CodedError };

/** Options of `CallJournals`. */
export interface CallJournalOptions {
  /** Bytes of all results, of calls in flight and of calls that wait; one client gets at most half of them. @default 64 MiB */
  readonly maxBytes?: number;
  /** Bytes of the results of one call. @default 8 MiB */
  readonly maxBytesPerCall?: number;
  /** Calls of one client that wait to be continued. @default 20 */
  readonly maxPerClient?: number;
  /** Calls of all clients. @default 500 */
  readonly maxCalls?: number;
  /** Milliseconds that a call waits to be continued: longer than an approval can wait, and then be used. @default 70 minutes */
  readonly lifeMs?: number;
}

/** Outcome of a call for its journal: `kept` where the call can be continued after an approval of an inner call. */
export type JournalEnd = "kept" | "dropped" | undefined;

/** The journals of one gateway. */
export class CallJournals {
  readonly #now: () => number;
  readonly #options: Required<CallJournalOptions>;
  /** Of calls that wait, by their keys, the oldest first. */
  readonly #waiting = new Map<string, CallJournal>();
  /** Of calls in flight, by their ids. */
  readonly #inFlight = new Map<string, CallJournal>();
  readonly #bytes: FairShare;

  constructor(now: () => number, options: CallJournalOptions = {}) {
    this.#now = now;
    this.#options = {
      maxBytes: options.maxBytes ?? 64 * 1024 * 1024,
      maxBytesPerCall: options.maxBytesPerCall ?? 8 * 1024 * 1024,
      maxPerClient: options.maxPerClient ?? 20,
      maxCalls: options.maxCalls ?? 500,
      lifeMs: options.lifeMs ?? 70 * 60_000,
    };
    this.#bytes = new FairShare(this.#options.maxBytes);
  }

  /** Whether no call waits to be continued. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Creates the journal of a call. @param holder its client, as one text @param key everything that its continuation is bound to */
  create(holder: string, key: string): CallJournal {
    return new CallJournal(holder, key, (bytes, own) => this.#reserve(holder, bytes, own));
  }

  /** Takes the journal of a call that waits: the caller continues it, or gives it back. */
  claim(key: string): CallJournal | undefined {
    this.#dropExpired();
    const found = this.#waiting.get(key);
    this.#waiting.delete(key);
    found?.rewind();
    return found;
  }

  /** Keeps a claimed journal whose call was not continued. */
  giveBack(journal: CallJournal): void {
    this.#keep(journal);
  }

  /** Adds the journal of a call whose execution begins. */
  begin(callId: string, journal: CallJournal): void {
    this.#inFlight.set(callId, journal);
  }

  /** Returns the journal of a call in flight; undefined for a call without one. */
  of(callId: string | undefined): CallJournal | undefined {
    return callId === undefined ? undefined : this.#inFlight.get(callId);
  }

  /** Keeps or drops the journal of a call that ended. @returns which of them, where the call waits; undefined for every other end */
  end(callId: string, hasFailed: boolean): JournalEnd {
    const journal = this.#inFlight.get(callId);
    this.#inFlight.delete(callId);
    if (journal === undefined) return undefined;
    // A program that goes on without the inner call has its result.
    if (!journal.isWaiting || !hasFailed || journal.isWithoutEffect) {
      this.#release(journal);
      return undefined;
    }
    if (journal.isTooLarge) {
      this.#release(journal);
      return "dropped";
    }
    return this.#keep(journal);
  }

  #keep(journal: CallJournal): JournalEnd {
    this.#dropExpired();
    const { maxPerClient, maxCalls, lifeMs } = this.#options;
    const replaced = this.#waiting.get(journal.key);
    if (replaced !== undefined) this.#drop(replaced);
    const own = [...this.#waiting.values()].filter((one) => one.holder === journal.holder);
    const oldest =
      own.length >= maxPerClient
        ? own[0]
        : this.#waiting.size >= maxCalls
          ? this.#waiting.values().next().value
          : undefined;
    if (oldest !== undefined) this.#drop(oldest);
    // A repeated call that got no further does not wait for longer: its approval would never end.
    journal.expiresAt ??= this.#now() + lifeMs;
    this.#waiting.set(journal.key, journal);
    return "kept";
  }

  #dropExpired(): void {
    const at = this.#now();
    const { lifeMs } = this.#options;
    for (const journal of this.#waiting.values()) {
      const { expiresAt = at } = journal;
      // After a jump of the clock to the past, nothing waits for longer than it was meant to.
      if (expiresAt <= at || expiresAt > at + lifeMs) this.#drop(journal);
    }
  }

  #drop(journal: CallJournal): void {
    this.#waiting.delete(journal.key);
    this.#release(journal);
  }

  #release(journal: CallJournal): void {
    this.#bytes.giveBack(journal.holder, journal.clear());
  }

  /** @returns whether there is room for `bytes` more of a journal of `holder` that has `own` */
  #reserve(holder: string, bytes: number, own: number): boolean {
    if (own + bytes > this.#options.maxBytesPerCall) return false;
    if (!this.#hasRoom(holder, bytes)) {
      this.#dropExpired();
      if (!this.#hasRoom(holder, bytes)) return false;
    }
    this.#bytes.take(holder, bytes);
    return true;
  }

  #hasRoom(holder: string, bytes: number): boolean {
    return this.#bytes.refusalFor(holder, bytes) === undefined;
  }
}

/** The inner calls of one call. */
export class CallJournal {
  readonly holder: string;
  readonly key: string;
  readonly #reserve: (bytes: number, own: number) => boolean;
  readonly #made = new Map<string, InnerOutcome[]>();
  /** The number of uses of `#made` by this execution, by their keys. */
  readonly #used = new Map<string, number>();
  /** Inner calls that the approval of the call is for, too: how many of each. */
  readonly #approved = new Map<string, number>();
  #approval: string | undefined;
  /** When it can no longer be continued; undefined until it waits, and after an inner call was made since, at any depth. */
  expiresAt: number | undefined;
  #bytes = 0;
  #isWaiting = false;
  #hasAdvanced = false;
  #isTooLarge = false;
  #isClosed = false;

  /** @param reserve returns whether there is room for the bytes of another result */
  constructor(holder: string, key: string, reserve: (bytes: number, own: number) => boolean) {
    this.holder = holder;
    this.key = key;
    this.#reserve = reserve;
  }

  /** Id of the approval of the call; undefined where nobody approved it. */
  get approval(): string | undefined {
    return this.#approval;
  }

  /** Whether an inner call of this execution waits for its approval. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether this execution made an inner call, at any depth. */
  get hasAdvanced(): boolean {
    return this.#hasAdvanced;
  }

  /** Whether its results were too many to keep. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Whether a new call would do the same as its continuation. */
  get isWithoutEffect(): boolean {
    return this.#made.size === 0 && this.#approval === undefined && !this.#isTooLarge;
  }

  /** Records the approval of the call, and with it of the inner calls of these keys. */
  approve(approval: string, keys: readonly string[]): void {
    this.#approval = approval;
    for (const key of keys) this.#approved.set(key, (this.#approved.get(key) ?? 0) + 1);
  }

  /** Uses up the approval of an inner call. @returns the id of the approval of the whole call; undefined where it is not for this one */
  takeApproval(key: string): string | undefined {
    const left = this.#approved.get(key) ?? 0;
    if (left === 0) return undefined;
    this.#approved.set(key, left - 1);
    return this.#approval;
  }

  /** Returns an approval of `takeApproval` that was not used. @returns whether it counts again: not for a call that ended */
  returnApproval(key: string): boolean {
    if (this.#isClosed) return false;
    this.#approved.set(key, (this.#approved.get(key) ?? 0) + 1);
    return true;
  }

  /** Returns how an inner call ended that was made before, once for each time that it was made. */
  takeMade(key: string): InnerOutcome | undefined {
    const used = this.#used.get(key) ?? 0;
    const found = this.#made.get(key)?.[used];
    if (found !== undefined) this.#used.set(key, used + 1);
    return found;
  }

  /** Returns a result of `takeMade` that was not used. */
  returnMade(key: string): void {
    this.#used.set(key, Math.max(0, (this.#used.get(key) ?? 0) - 1));
  }

  /** Records how an inner call ended that was made. */
  record(key: string, outcome: InnerOutcome, bytes: number): void {
    // A call can end before an inner call that it cancelled.
    if (this.#isTooLarge || this.#isClosed) return;
    this.#advance();
    if (!this.#reserve(bytes, this.#bytes)) {
      this.#isTooLarge = true;
      return;
    }
    this.#bytes += bytes;
    const known = this.#made.get(key) ?? [];
    known.push(outcome);
    this.#made.set(key, known);
    this.#used.set(key, known.length);
  }

  /** Records that an inner call, or one within it, waits for its approval. @param inner the journal of that inner call, if it is kept */
  waits(inner?: CallJournal): void {
    this.#isWaiting = true;
    // What it made is not made again, so that the call around it got further, too.
    if (inner?.hasAdvanced === true) this.#advance();
  }

  #advance(): void {
    this.#hasAdvanced = true;
    this.expiresAt = undefined;
  }

  /** Begins another execution. */
  rewind(): void {
    this.#isWaiting = false;
    this.#hasAdvanced = false;
    this.#used.clear();
  }

  /** Forgets everything. @returns the bytes that are free again */
  clear(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#isClosed = true;
    this.#made.clear();
    this.#used.clear();
    this.#approved.clear();
    return bytes;
  }
}
