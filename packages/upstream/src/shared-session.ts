/**
 * Keeps one session with a server open, which all clients share. A new session
 * is opened, prepared, and then handed out. When it ends or cannot be opened,
 * another attempt follows after a growing pause. A session that lasted only for
 * a moment counts as a failure, so a server that flaps gets growing pauses too.
 *
 * The first session is opened at once, "soon" after the start, or for the first request ("idle"); a session without
 * requests can be closed, and is "idle" then, too.
 *
 * It never hands out a session before it is prepared, never holds more than one
 * session at a time, and a waiting call never shortens a pause.
 */

import { disposeOnce, type StartTimer } from "@toolcrib/lifecycle";
import type { Era, Health } from "@toolcrib/tool";
import { Backoff, stableAfterMs } from "./backoff.ts";
import { UpstreamError } from "./upstream-error.ts";
import {
  adviceAbout,
  exitText,
  failureOf,
  isExpired,
  isFetching,
  reasonOf,
  requestedWaitMs,
} from "./upstream-failure.ts";
import type { UpstreamLimits, UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** Dependencies of `SharedSession`. */
export interface SharedSessionDeps {
  readonly serverId: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly startBackgroundTimer: StartTimer;
  /** Opens a session. `era` is the era of the last session, to be tried first. */
  open(era: Era | undefined, signal: AbortSignal): Promise<UpstreamSession>;
  /** Reads the lists of a new session. @returns a function that publishes them, called when the session is handed out */
  prepare(session: UpstreamSession, signal: AbortSignal): Promise<() => void>;
  /** Milliseconds without a request after which the session is closed; undefined for a session that stays open. */
  readonly idleMs: number | undefined;
  /** Number of requests on a session so far; undefined while it is in use. */
  usesOf(session: UpstreamSession): number | undefined;
  /** As in the settings of the server. */
  readonly advise: UpstreamSettings["advise"];
  /** Removes secrets from a reason. */
  readonly scrub: (text: string) => string;
  /** Reports that there is no session until the next request. */
  onIdle(): void;
  /** Reports that an attempt failed or the session ended. `willRetry` is false after the last attempt. */
  onDown(reason: string, attempt: number, willRetry: boolean, failure: Health["failure"]): void;
}

/** When another session is opened: at once, at once after a report that the session ended, or after the pause of a failure. */
type Reopening = "at once" | "reported" | "after a pause";

/** When the first session is opened: at once, soon after the first clients could list the tools, or for the first request. */
export type FirstOpening = "at once" | "soon" | "on request";

type State =
  | { readonly kind: "new" | "soon" | "connecting" | "idle" | "gone" }
  | { readonly kind: "ready"; readonly session: UpstreamSession; readonly since: number }
  | { readonly kind: "pausing"; readonly retryAt: number };

const suspended = new Error("The server was suspended");
/** Checks of a session within the idle time: it is closed after this number of them without a request. */
const idleChecks = 4;
/** Time that clients have for their first lists before a session is opened "soon", in milliseconds. */
const soonAfterMs = 100;
/** A call waits for the end of a pause that is no longer than this. */
const dueMs = 2000;

/** The session that all clients share. Nothing is opened before `start`. */
export class SharedSession implements AsyncDisposable {
  readonly #deps: SharedSessionDeps;
  readonly #limits: Required<UpstreamLimits>;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  /** Called after each change of the state. */
  readonly #waiters = new Set<() => void>();
  #state: State = { kind: "new" };
  #era: Era | undefined;
  #lastReason = "";
  #connections = 0;
  #failedAttempts = 0;
  /** Cancels the next attempt. */
  #cancelRetry: (() => void) | undefined;
  #firstTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The current attempt, or the end of the last session. Never rejects. */
  #work: Promise<void> = Promise.resolve();
  #started: Promise<void> | undefined;
  /** The end of a session that was closed because it was idle. Never rejects. */
  #resting: Promise<void> | undefined;
  #isSuspended = false;
  /** Ends the attempt in progress. */
  #attemptEnd = new AbortController();
  readonly #dispose = disposeOnce(() => this.#stop());

  constructor(deps: SharedSessionDeps, limits: Required<UpstreamLimits>) {
    this.#deps = deps;
    this.#limits = limits;
    this.#backoff = new Backoff(limits, deps.random);
  }

  /** The session, or undefined while there is none. */
  get current(): UpstreamSession | undefined {
    return this.#state.kind === "ready" ? this.#state.session : undefined;
  }

  /** Sessions that were handed out so far. */
  get connections(): number {
    return this.#connections;
  }

  /** Aborts on disposal. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Whether there is no session until the next request. */
  get isIdle(): boolean {
    return this.#state.kind === "idle";
  }

  /**
   * Makes the first attempt; resolves when it succeeded or failed. Further calls return the same promise.
   *
   * @param when "soon" makes the attempt at once for a request that comes before
   */
  start(when: FirstOpening): Promise<void> {
    this.#started ??=
      when === "at once" ? this.#connect() : when === "soon" ? this.#connectSoon() : this.#rest();
    return this.#started;
  }

  /**
   * Returns the session. Waits for a session that is being opened, or is due within two seconds.
   *
   * @throws {UpstreamError} `UPSTREAM_UNAVAILABLE`; the reason of `signal` when it aborts.
   */
  async get(signal: AbortSignal): Promise<UpstreamSession> {
    signal.throwIfAborted();
    if (this.#state.kind === "ready") return this.#state.session;
    if (this.#state.kind === "idle" || this.#state.kind === "soon") void this.#connect();
    if (!this.#isDue()) throw this.#unavailable();
    return this.#nextSession(signal);
  }

  /** Ends `session`, which is no longer usable, and opens another one: at once, or after the same pause as after any other end. */
  renew(session: UpstreamSession, reason: string, when: "at once" | "after a pause"): void {
    this.#replace(session, () => Promise.resolve(reason), when);
  }

  /** Ends the session, and opens none until `resume`. */
  suspend(): void {
    const state = this.#state;
    if (this.#isSuspended || this.stopped.aborted) return;
    this.#isSuspended = true;
    this.#cancelRetry?.();
    this.#attemptEnd.abort(suspended);
    // The end of the attempt, or that of the last session, changes the state.
    if (state.kind === "connecting") return;
    this.#enter({ kind: "gone" });
    if (state.kind === "ready") this.#work = state.session[Symbol.asyncDispose]();
  }

  /** Opens a session again after `suspend`. */
  resume(): void {
    if (!this.#isSuspended || this.stopped.aborted) return;
    this.#isSuspended = false;
    this.#backoff.succeeded();
    // An attempt that is being ended is followed by another one.
    if (this.#state.kind === "connecting") return;
    this.#enter({ kind: "connecting" });
    this.#work = this.#work.then(() => (this.#isSuspended ? this.#enter({ kind: "gone" }) : this.#connect()));
  }

  /** Ends the pause before the next attempt. */
  retryNow(): void {
    if (this.#state.kind !== "pausing" || this.#isSuspended || this.stopped.aborted) return;
    this.#cancelRetry?.();
    this.#backoff.succeeded();
    void this.#connect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #enter(next: State): void {
    if (next.kind !== "soon") clearTimeout(this.#firstTimer);
    this.#state = next;
    for (const wake of [...this.#waiters]) wake();
  }

  #connect(): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted || this.#isSuspended) return Promise.resolve();
    this.#enter({ kind: "connecting" });
    // The processes of a session that was closed because it was idle end before a new one starts.
    const resting = this.#resting;
    this.#resting = undefined;
    this.#work = resting === undefined ? this.#attempt(signal) : resting.then(() => this.#attempt(signal));
    return this.#work;
  }

  /** The processes that are started otherwise use the processors before the first clients have listed what is known. */
  #connectSoon(): Promise<void> {
    if (this.stopped.aborted || this.#isSuspended) return Promise.resolve();
    this.#enter({ kind: "soon" });
    // Keeps the process alive: a program can wait for its first servers.
    this.#firstTimer = setTimeout(() => void this.#connect(), soonAfterMs);
    return new Promise((resolve) => {
      const wake = () => {
        if (this.#state.kind === "soon") return;
        this.#waiters.delete(wake);
        // The attempt is known after its state.
        queueMicrotask(() => resolve(this.#work));
      };
      this.#waiters.add(wake);
    });
  }

  async #rest(): Promise<void> {
    if (this.stopped.aborted || this.#isSuspended) return;
    this.#enter({ kind: "idle" });
    this.#deps.onIdle();
  }

  /** Closes `session` after it was not used for the idle time. */
  #closeWhenIdle(session: UpstreamSession, idleMs: number): void {
    let lastUses: number | undefined;
    let unchangedCount = 0;
    const timer = setInterval(() => {
      if (this.current !== session) {
        clearInterval(timer);
        return;
      }
      const uses = this.#deps.usesOf(session);
      unchangedCount = uses !== undefined && uses === lastUses ? unchangedCount + 1 : 0;
      lastUses = uses;
      if (unchangedCount < idleChecks) return;
      clearInterval(timer);
      void this.#rest();
      this.#resting = session[Symbol.asyncDispose]();
      this.#work = this.#resting;
    }, idleMs / idleChecks);
    timer.unref();
    this.#idleTimer = timer;
  }

  async #attempt(stopped: AbortSignal): Promise<void> {
    this.#attemptEnd = new AbortController();
    if (this.#isSuspended) this.#attemptEnd.abort(suspended);
    const signal = AbortSignal.any([stopped, this.#attemptEnd.signal]);
    let session: UpstreamSession | undefined;
    try {
      signal.throwIfAborted();
      session = await this.#deps.open(this.#era, signal);
      const publish = await this.#deps.prepare(session, signal);
      signal.throwIfAborted();
      session.connection.closed.throwIfAborted();
      this.#adopt(session, publish);
    } catch (error) {
      const reason =
        session === undefined
          ? reasonOf(error, this.#deps.scrub)
          : await endReasonOf(session, error, this.#deps);
      await session?.[Symbol.asyncDispose]();
      if (stopped.aborted) return;
      if (this.#isSuspended) return this.#enter({ kind: "gone" });
      // A server that was suspended is used again. A package that is being fetched is no failure of its server, and
      // its fetch has limits of its own.
      if (signal.aborted || isFetching(error)) return this.#attempt(stopped);
      this.#failedAttempts += 1;
      this.#retry(reason, failureOf(error), requestedWaitMs(error, this.#limits.retryAfterMaxMs));
    }
  }

  #adopt(session: UpstreamSession, publish: () => void): void {
    const { connection } = session;
    this.#era = connection.era;
    this.#connections += 1;
    connection.closed.addEventListener("abort", () => this.#ended(session), { once: true });
    this.#state = { kind: "ready", session, since: this.#deps.now() };
    publish();
    // Waiting calls get the session only after its lists are published.
    this.#enter(this.#state);
    const { idleMs } = this.#deps;
    if (idleMs !== undefined) this.#closeWhenIdle(session, idleMs);
  }

  #ended(session: UpstreamSession): void {
    const cause: unknown = session.connection.closed.reason;
    // A server that reports an expired session is running: it is no failure. A crash is reported.
    const when = isExpired(cause) ? "at once" : "reported";
    this.#replace(session, () => endReasonOf(session, cause, this.#deps), when, failureOf(cause));
  }

  #replace(
    session: UpstreamSession,
    reason: () => Promise<string>,
    when: Reopening,
    failure?: Health["failure"],
  ): void {
    const state = this.#state;
    if (state.kind !== "ready" || state.session !== session) return;
    const isStable = this.#deps.now() - state.since >= stableAfterMs;
    if (isStable) this.#backoff.succeeded();
    this.#enter({ kind: "connecting" });
    // A session that ends soon after it was opened would be opened and lost without end.
    this.#work = this.#recover(session, reason, isStable ? when : "after a pause", failure);
  }

  async #recover(
    session: UpstreamSession,
    reason: () => Promise<string>,
    when: Reopening,
    failure: Health["failure"],
  ): Promise<void> {
    const text = await reason();
    // The remaining processes of the old session end before a new one starts.
    await session[Symbol.asyncDispose]();
    if (this.stopped.aborted) return;
    if (this.#isSuspended) this.#enter({ kind: "gone" });
    else if (when === "after a pause") this.#retry(text, failure);
    else {
      if (when === "reported") this.#deps.onDown(text, 1, true, failure);
      await this.#connect();
    }
  }

  /** @param minPauseMs the wait that the server asked for */
  #retry(reason: string, failure: Health["failure"], minPauseMs = 0): void {
    const { reconnectMaxAttempts } = this.#limits;
    this.#lastReason = reason;
    const pauseMs = this.#backoff.failed(minPauseMs);
    const { failures } = this.#backoff;
    const willRetry = failures <= reconnectMaxAttempts;
    this.#deps.onDown(reason, failures, willRetry, failure);
    if (!willRetry) {
      this.#enter({ kind: "gone" });
      return;
    }
    // A waiting call keeps the process alive; the pause alone does not.
    this.#cancelRetry = this.#deps.startBackgroundTimer(pauseMs, () => void this.#connect());
    this.#enter({ kind: "pausing", retryAt: this.#deps.now() + pauseMs });
  }

  /** Whether a session is being opened, or is due within `dueMs`. */
  #isDue(): boolean {
    const state = this.#state;
    if (state.kind === "connecting") return true;
    return state.kind === "pausing" && state.retryAt - this.#deps.now() <= dueMs;
  }

  #unavailable(): UpstreamError {
    const { serverId } = this.#deps;
    const reason = this.#lastReason === "" ? "" : `: ${this.#lastReason}`;
    return new UpstreamError("UPSTREAM_UNAVAILABLE", `The server "${serverId}" is not available${reason}`, {
      hint: hintOf(this.#state, this.#deps.now()),
      data: { server: serverId },
    });
  }

  /** Waits for the outcome of the attempt that is in progress or due. */
  #nextSession(signal: AbortSignal): Promise<UpstreamSession> {
    const failedBefore = this.#failedAttempts;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        signal.removeEventListener("abort", abort);
        act();
      };
      const fail = () => settle(() => reject(this.#unavailable()));
      const check = () => {
        const { current } = this;
        if (current !== undefined) settle(() => resolve(current));
        else if (!this.#isDue() || this.#failedAttempts !== failedBefore) fail();
      };
      const abort = () => settle(() => reject(signal.reason));
      const timer = setTimeout(fail, this.#limits.connectWaitMs);
      this.#waiters.add(check);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  async #stop(): Promise<void> {
    const { current } = this;
    this.#cancelRetry?.();
    clearInterval(this.#idleTimer);
    this.#stopping.abort(
      new UpstreamError("UPSTREAM_CLOSED", `The server "${this.#deps.serverId}" was stopped`),
    );
    this.#enter({ kind: "gone" });
    await Promise.allSettled([current?.[Symbol.asyncDispose](), this.#work]);
  }
}

function hintOf(state: State, now: number): string | undefined {
  if (state.kind === "connecting") return "it is being connected; try again";
  if (state.kind !== "pausing") return undefined;
  return `it is tried again in ${Math.max(1, Math.ceil((state.retryAt - now) / 1000))} s`;
}

/** Returns the reason why `session` ended: the exit of its process if it ended by itself, else `error`. */
async function endReasonOf(
  session: UpstreamSession,
  error: unknown,
  { advise, scrub }: Pick<SharedSessionDeps, "advise" | "scrub">,
): Promise<string> {
  const hasEnded = session.connection.closed.aborted && session.process !== undefined;
  const exit = hasEnded ? await exitText(session.process) : undefined;
  if (exit === undefined) return reasonOf(error, scrub);
  const advice = adviceAbout(session.process, advise);
  return advice === undefined ? `The server ${exit}` : `The server ${exit} (${advice})`;
}
