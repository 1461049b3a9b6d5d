/**
 * The one session with a server that all clients share, kept open: it is made,
 * prepared and handed out; when it ends or cannot be made, it is tried again
 * with growing pauses. A connection that held only for a moment counts as a
 * failure, so a server that flaps is not hammered.
 *
 * It never gives out a session before it is prepared, nor more than one at a
 * time, and nobody who waits for it shortens a pause.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { McpError } from "@toolcrib/mcp";
import type { Era } from "@toolcrib/tool";
import { createBackoff } from "./backoff.ts";
import type { UpstreamSession } from "./open-session.ts";
import { UpstreamError } from "./upstream-error.ts";
import { exitText, reasonOf } from "./upstream-failure.ts";
import type { UpstreamLimits } from "./upstream-options.ts";

/** What the link needs of its server. */
export interface SharedLinkDeps {
  readonly serverId: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Make a session. `era` is that of the last one, to be tried first. */
  open(era: Era | undefined, signal: AbortSignal): Promise<UpstreamSession>;
  /** Read what a new session offers. @returns what puts it in place, called when the session is given out */
  prepare(session: UpstreamSession, signal: AbortSignal): Promise<() => void>;
  /** It failed or ended. `willRetry` is false when it was the last attempt. */
  down(reason: string, attempt: number, willRetry: boolean): void;
}

/** The shared session and its life. */
export interface SharedLink extends AsyncDisposable {
  /** The session; undefined while there is none. */
  readonly session: UpstreamSession | undefined;
  /** Sessions made so far. */
  readonly connections: number;
  /** Make the first attempt; resolves when it succeeded or failed. Later calls wait for the same. */
  start(): Promise<void>;
  /**
   * The session, waiting for one that is on its way: being made, or due within two seconds.
   *
   * @throws {UpstreamError} `UPSTREAM_UNAVAILABLE`; the signal's reason when it aborts.
   */
  get(signal: AbortSignal): Promise<UpstreamSession>;
  /** End `session`, which turned out to be of no more use, and make another: at once, or as after any other end. */
  renew(session: UpstreamSession, reason: string, when: "at once" | "after a pause"): void;
  /** Aborts when the link is disposed. */
  readonly stopped: AbortSignal;
}

type State =
  | { readonly kind: "new" | "connecting" | "gone" }
  | { readonly kind: "ready"; readonly session: UpstreamSession; readonly since: number }
  | { readonly kind: "pausing"; readonly retryAt: number };

/** A pause that is over within this is worth waiting for. */
const soonMs = 2000;

/** Create the link; nothing is opened before `start`. */
export function createSharedLink(deps: SharedLinkDeps, limits: Required<UpstreamLimits>): SharedLink {
  const stopping = new AbortController();
  const backoff = createBackoff(limits, deps.random);
  const waiters = new Set<() => void>();
  let state: State = { kind: "new" };
  let era: Era | undefined;
  let lastReason = "";
  let connections = 0;
  let failedAttempts = 0;
  let retryTimer: NodeJS.Timeout | undefined;
  let work: Promise<void> = Promise.resolve();
  let started: Promise<void> | undefined;
  let disposing: Promise<void> | undefined;

  function enter(next: State): void {
    state = next;
    for (const wake of [...waiters]) wake();
  }

  function connect(): Promise<void> {
    if (stopping.signal.aborted) return Promise.resolve();
    enter({ kind: "connecting" });
    work = attempt(stopping.signal);
    return work;
  }

  async function attempt(signal: AbortSignal): Promise<void> {
    let session: UpstreamSession | undefined;
    try {
      signal.throwIfAborted();
      session = await deps.open(era, signal);
      const putInPlace = await deps.prepare(session, signal);
      signal.throwIfAborted();
      session.connection.closed.throwIfAborted();
      adopt(session, putInPlace);
    } catch (error) {
      const reason = session === undefined ? reasonOf(error) : await endOf(session, error);
      await session?.[Symbol.asyncDispose]();
      if (signal.aborted) return;
      failedAttempts += 1;
      retry(reason);
    }
  }

  function adopt(session: UpstreamSession, putInPlace: () => void): void {
    const { connection } = session;
    era = connection.era;
    connections += 1;
    connection.closed.addEventListener("abort", () => ended(session), { once: true });
    state = { kind: "ready", session, since: deps.now() };
    putInPlace();
    enter(state);
  }

  function ended(session: UpstreamSession): void {
    const cause: unknown = session.connection.closed.reason;
    // An expired session says that the server is there; nothing is gained by waiting for it.
    const isExpired = cause instanceof McpError && cause.code === "MCP_SESSION_EXPIRED";
    replace(session, () => endOf(session, cause), isExpired);
  }

  function replace(session: UpstreamSession, reason: () => Promise<string>, mayBeAtOnce: boolean): void {
    if (state.kind !== "ready" || state.session !== session) return;
    const isStable = deps.now() - state.since >= limits.stableAfterMs;
    if (isStable) backoff.succeeded();
    enter({ kind: "connecting" });
    work = recover(session, reason, mayBeAtOnce && isStable);
  }

  async function recover(
    session: UpstreamSession,
    reason: () => Promise<string>,
    isAtOnce: boolean,
  ): Promise<void> {
    const text = await reason();
    // The rest of its process tree goes before a new one is started.
    await session[Symbol.asyncDispose]();
    if (stopping.signal.aborted) return;
    if (isAtOnce) await connect();
    else retry(text);
  }

  function retry(reason: string): void {
    lastReason = reason;
    const pauseMs = backoff.failed();
    const willRetry = backoff.failures <= limits.reconnectMaxAttempts;
    deps.down(reason, backoff.failures, willRetry);
    if (!willRetry) {
      enter({ kind: "gone" });
      return;
    }
    retryTimer = setTimeout(() => void connect(), pauseMs);
    // Who waits for the connection keeps the process alive; the link alone does not.
    retryTimer.unref();
    enter({ kind: "pausing", retryAt: deps.now() + pauseMs });
  }

  function isComing(): boolean {
    return state.kind === "connecting" || (state.kind === "pausing" && state.retryAt - deps.now() <= soonMs);
  }

  function unavailable(): UpstreamError {
    const why = lastReason === "" ? "" : `: ${lastReason}`;
    return new UpstreamError("UPSTREAM_UNAVAILABLE", `The server "${deps.serverId}" is not available${why}`, {
      hint: hintOf(state, deps.now()),
      data: { server: deps.serverId },
    });
  }

  function whenComeOrFailed(signal: AbortSignal): Promise<UpstreamSession> {
    const failedBefore = failedAttempts;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        waiters.delete(look);
        signal.removeEventListener("abort", aborted);
        act();
      };
      const look = () => {
        const { session } = link;
        if (session !== undefined) settle(() => resolve(session));
        else if (!isComing() || failedAttempts !== failedBefore) settle(() => reject(unavailable()));
      };
      const aborted = () => settle(() => reject(signal.reason));
      const timer = setTimeout(() => settle(() => reject(unavailable())), limits.connectWaitMs);
      waiters.add(look);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  async function dispose(): Promise<void> {
    const { session } = link;
    const reason = new UpstreamError("UPSTREAM_CLOSED", `The server "${deps.serverId}" was stopped`);
    clearTimeout(retryTimer);
    stopping.abort(reason);
    enter({ kind: "gone" });
    await Promise.allSettled([session?.[Symbol.asyncDispose](), work]);
  }

  const link: SharedLink = {
    get session() {
      return state.kind === "ready" ? state.session : undefined;
    },
    get connections() {
      return connections;
    },
    stopped: stopping.signal,
    start() {
      started ??= connect();
      return started;
    },
    async get(signal) {
      signal.throwIfAborted();
      if (state.kind === "ready") return state.session;
      if (!isComing()) throw unavailable();
      return whenComeOrFailed(signal);
    },
    renew(session, reason, when) {
      replace(session, () => Promise.resolve(reason), when === "at once");
    },
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
  return link;
}

function hintOf(state: State, now: number): string | undefined {
  if (state.kind === "connecting") return "it is being connected; try again";
  if (state.kind !== "pausing") return undefined;
  return `it is tried again in ${Math.max(1, Math.ceil((state.retryAt - now) / 1000))} s`;
}

/** Why `session` ended: how its process did, when it was its own end. */
async function endOf(session: UpstreamSession, error: unknown): Promise<string> {
  const isOver = session.connection.closed.aborted && session.process !== undefined;
  const exit = isOver ? await exitText(session.process) : undefined;
  return exit === undefined ? messageOf(error) : `The server ${exit}`;
}
