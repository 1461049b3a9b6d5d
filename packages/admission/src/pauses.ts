/**
 * The kill switch: refuses the calls that the operator paused, and cancels those in flight.
 * The pauses are kept in the home, so that they outlast the gateway and hold for every gateway
 * of the home.
 *
 * Invariant: a call is executed only after a check in the same turn of the event loop in which it enters the
 * calls in flight, so that no call escapes a pause in between. While the pauses cannot be read, every
 * call is refused.
 */

import type { Logger } from "@toolcrib/diagnostics";
import { describePause, type Pause, PauseSet, type PauseTarget, parsePauseTarget } from "@toolcrib/guards";
import { LiveValues } from "@toolcrib/lifecycle";
import { type AuditStore, escapeUnsafe, type PauseStore, recordOrLog, toAuditClient } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { AdmissionError } from "./admission-error.ts";
import type { GuardedOrigin, GuardedTarget } from "./guarded-call.ts";
import { poll } from "./poll.ts";

type PauseState = ReturnType<PauseStore["current"]>;

/** Dependencies of `Pauses`. */
export interface PausesDeps {
  /** Without it, nothing can be paused. */
  readonly store: PauseStore | undefined;
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The command by which the operator resumes. */
  readonly resumeCommand: string;
  /** Returns the `identityKey`s that the configuration gives the name of a client. */
  readonly clientKeys: (name: string) => readonly string[];
}

/** A pause for people. */
export interface PauseStatus extends PauseTarget {
  readonly reason?: string;
  /** RFC 3339. */
  readonly since: string;
  /** RFC 3339; absent for a pause without an end. */
  readonly until?: string;
}

/** A request of the operator. */
export interface PauseRequest {
  readonly kind: string;
  readonly name: string;
  readonly reason?: string | undefined;
  /** Milliseconds until it ends. @default until it is resumed */
  readonly forMs?: number | undefined;
}

/** A refusal, and the id of its rule for the audit. */
export interface GuardRefusal {
  readonly error: AdmissionError;
  readonly rule: string;
}

type Subject = Omit<GuardedTarget, "isOwn">;

interface RunningCall {
  readonly target: Subject;
  readonly origin: GuardedOrigin;
  readonly cancel: (reason: AdmissionError) => void;
  hasEnded: boolean;
}

/** Milliseconds between two polls for pauses of other processes of the home. */
const pollMs = 500;

/** Longest pause with an end: a year. @limit operator */
const pauseMaxMs = 366 * 24 * 3_600_000;

const nothing = () => {};

/** The pauses of one gateway. */
export class Pauses {
  readonly #deps: PausesDeps;
  readonly #running = new LiveValues<RunningCall>();
  /** The state that was applied last; none before the first read. */
  #state: PauseState | undefined;
  #set = new PauseSet([]);
  /** Whether no call needs a check. */
  #isQuiet: boolean;

  constructor(deps: PausesDeps) {
    this.#deps = deps;
    this.#isQuiet = deps.store === undefined;
  }

  /** Returns why a call may not be made now; undefined for a call that is not paused. */
  refusal(target: Subject, origin: GuardedOrigin): GuardRefusal | undefined {
    return this.#isQuiet ? undefined : this.#find(target, origin, "was not called");
  }

  /**
   * Adds a call to those that a pause cancels.
   *
   * @param cancel ends the call.
   * @returns removes it; to be called exactly when the call ended.
   * @throws {AdmissionError} `CALL_PAUSED`, `PAUSES_UNREADABLE`; nothing is added then.
   */
  enter(target: Subject, origin: GuardedOrigin, cancel: RunningCall["cancel"]): () => void {
    if (this.#deps.store === undefined) return nothing;
    const refusal = this.refusal(target, origin);
    if (refusal !== undefined) throw refusal.error;
    const call: RunningCall = { target, origin, cancel, hasEnded: false };
    const place = this.#running.add(call);
    return () => {
      call.hasEnded = true;
      this.#running.remove(place);
    };
  }

  /** Returns the pauses in force, and why every call is refused where they are not known. */
  facts(): { readonly pauses: readonly PauseStatus[]; readonly pausesProblem?: string } {
    const pauses = this.#set.current(this.#deps.now()).map(toStatus);
    return this.#state?.kind === "unreadable"
      ? { pauses, pausesProblem: this.#state.problem.message }
      : { pauses };
  }

  /**
   * Pauses something, and cancels its calls in flight.
   *
   * @returns the pause, and the number of calls of this gateway that were cancelled.
   * @throws {AdmissionError} `PAUSE_INVALID`
   * @throws {StoreError} when the pause cannot be stored. Nothing is paused then.
   */
  async pause(
    { kind, name, reason, forMs }: PauseRequest,
    operator: Identity,
  ): Promise<{ readonly pause: PauseStatus; readonly cancelledCalls: number }> {
    const target = targetOf(kind, name, reason);
    if (forMs !== undefined && !(forMs >= 1000 && forMs <= pauseMaxMs)) {
      throw new AdmissionError("PAUSE_INVALID", "Cannot pause: the time is not between a second and a year");
    }
    const pausedAt = this.#deps.now();
    const { issuer, subject } = operator;
    const pause: Pause = {
      ...target,
      ...(reason === undefined || reason === "" ? {} : { reason }),
      pausedBy: { issuer, subject },
      pausedAt,
      ...(forMs === undefined ? {} : { expiresAt: pausedAt + forMs }),
    };
    const store = this.#requireStore();
    await store.put(pause);
    const cancelledCalls = this.#take(store.current());
    const status = toStatus(pause);
    recordOrLog(this.#deps, "guard.paused", {
      ...auditDataOf(status),
      by: toAuditClient(operator),
      cancelledCalls,
    });
    return { pause: status, cancelledCalls };
  }

  /**
   * Resumes what was paused under exactly this kind and name.
   *
   * @returns whether it was paused.
   * @throws {AdmissionError} `PAUSE_INVALID`
   * @throws {StoreError} when the change cannot be stored.
   */
  async resume({ kind, name }: PauseRequest, operator: Identity): Promise<boolean> {
    const target = targetOf(kind, name);
    const store = this.#requireStore();
    const isResumed = await store.delete(target);
    this.#take(store.current());
    if (isResumed)
      recordOrLog(this.#deps, "guard.resumed", { ...auditDataOf(target), by: toAuditClient(operator) });
    return isResumed;
  }

  /** Reads the pauses: at the start, and those of other processes. Every call before the first time is refused. Never rejects. */
  async refresh(): Promise<void> {
    const { store } = this.#deps;
    if (store === undefined) return;
    await store.refresh();
    this.#take(store.current());
  }

  /** Takes over the pauses of other processes from now on. @returns ends it, and waits for a read that has begun */
  watch(): () => Promise<void> {
    if (this.#deps.store === undefined) return () => Promise.resolve();
    return poll(pollMs, () => this.refresh());
  }

  /** Applies the state again: the configuration gives names to other clients. */
  reconsider(): void {
    const state = this.#state;
    this.#state = undefined;
    if (state !== undefined) this.#take(state);
  }

  /** Applies a state. @returns the number of calls that were cancelled */
  #take(state: PauseState): number {
    if (state === this.#state) return 0;
    const { logger, clientKeys } = this.#deps;
    this.#state = state;
    if (state.kind === "unreadable") {
      // Calls in flight were allowed by what could be read.
      this.#isQuiet = false;
      const { message, hint } = state.problem;
      logger.error({ reason: message, hint }, "every call is refused: it is not known what is paused");
      return 0;
    }
    this.#set = new PauseSet(state.pauses, clientKeys);
    this.#isQuiet = this.#set.isEmpty;
    const paused = this.facts().pauses.map((pause) => describePause(pause));
    if (paused.length > 0) logger.warn({ paused }, "calls are paused");
    return this.#isQuiet ? 0 : this.#cancelPaused();
  }

  #cancelPaused(): number {
    let count = 0;
    for (const call of this.#running.all()) {
      const found = this.#find(call.target, call.origin, "was cancelled");
      // The end of an outer call ends its inner calls.
      if (found === undefined || call.hasEnded) continue;
      call.cancel(found.error);
      count += 1;
    }
    return count;
  }

  #find(
    { id, wireName, server, shownName }: Subject,
    origin: GuardedOrigin,
    state: string,
  ): GuardRefusal | undefined {
    const { now, resumeCommand } = this.#deps;
    if (this.#state?.kind !== "known") {
      const isUnread = this.#state === undefined;
      const reason = isUnread ? "is not known yet" : "cannot be read";
      const error = new AdmissionError(
        "PAUSES_UNREADABLE",
        `"${shownName}" ${state}: what the operator paused ${reason}`,
        { hint: isUnread ? "try again" : "the operator sees the reason with toolcrib status" },
      );
      return { error, rule: "pause.unreadable" };
    }
    const { identity, owners } = origin;
    const call = { id, wireName, server, identity };
    const own = this.#set.find(call, now());
    const pause = own ?? (owners === undefined ? undefined : this.#set.find({ ...call, owners }, now()));
    if (pause === undefined) return undefined;
    const { since: _since, until, reason, ...target } = toStatus(pause);
    const isForeign = own === undefined;
    // A client does not learn who else is paused.
    const what = isForeign ? "the owner of a saved tool around this call" : describePause(target);
    const end = until === undefined ? "" : ` until ${until}`;
    const why = reason === undefined ? "" : ` (${escapeUnsafe(reason)})`;
    const error = new AdmissionError(
      "CALL_PAUSED",
      `"${shownName}" ${state}: ${what} is paused${end}${why}`,
      {
        hint: isForeign
          ? "the operator can resume it"
          : `the operator can resume it: ${resumeCommand} ${wordsOf(target)}`,
        data: { ...(until === undefined ? {} : { until }) },
      },
    );
    return { error, rule: `pause.${target.kind}${target.name === "" ? "" : ` ${target.name}`}` };
  }

  #requireStore(): PauseStore {
    if (this.#deps.store !== undefined) return this.#deps.store;
    throw new AdmissionError("PAUSE_INVALID", "Nothing can be paused: this gateway has no home");
  }
}

/** @throws {AdmissionError} `PAUSE_INVALID` */
function targetOf(kind: string, name: string, reason?: string): PauseTarget {
  const parsed = parsePauseTarget(kind, name, reason);
  if ("target" in parsed) return parsed.target;
  throw new AdmissionError("PAUSE_INVALID", `Cannot pause or resume: ${parsed.problem}`);
}

function toStatus({ kind, name, reason, pausedAt, expiresAt }: Pause): PauseStatus {
  return {
    kind,
    name,
    ...(reason === undefined ? {} : { reason }),
    since: new Date(pausedAt).toISOString(),
    ...(expiresAt === undefined ? {} : { until: new Date(expiresAt).toISOString() }),
  };
}

/** Returns what is paused for the audit. */
function auditDataOf({ kind, name, reason, until }: PauseTarget & Partial<PauseStatus>) {
  return {
    kind,
    ...(kind === "all" ? {} : { name }),
    ...(reason === undefined ? {} : { reason }),
    ...(until === undefined ? {} : { until }),
  };
}

function wordsOf({ kind, name }: PauseTarget): string {
  if (kind === "all") return kind;
  return /^[\w.:@-]+$/.test(name)
    ? `${kind} ${name}`
    : `${kind} '${escapeUnsafe(name).replaceAll("'", "'\\''")}'`;
}
