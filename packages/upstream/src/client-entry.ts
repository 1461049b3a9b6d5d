/**
 * One client of a server with a session of its own, from its first call to its
 * end. A client whose sessions fail or end soon waits between attempts, in the
 * same way as the shared session does.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { ClientSession } from "@toolcrib/tool";
import { Backoff, stableAfterMs } from "./backoff.ts";
import type { ClientSessionsDeps } from "./client-sessions.ts";
import { UpstreamError } from "./upstream-error.ts";
import { failureOf, isExpired, reasonOf, requestedWaitMs } from "./upstream-failure.ts";
import type { UpstreamLimits } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** A call waits for the end of a pause that is no longer than this. */
const waitedPauseMaxMs = 2000;

/** A hold, which keeps a session open. */
interface SessionHold {
  release(): void;
  /** Says that the hold is no call, and can take another session. */
  yields(): void;
}

/** A client that has a session of its own. */
export interface SessionClient extends ClientSession {
  /** Clients of one pool use the sessions of each other, one client at a time. @default it shares its session with no client */
  readonly pool?: string;
}

/** A client and its session. The entry of a pool serves one client after the other. */
export class ClientEntry {
  #client: SessionClient;
  /** The client in whose name sessions are opened. */
  readonly #owner: ClientSession;
  readonly #deps: ClientSessionsDeps;
  readonly #limits: Required<UpstreamLimits>;
  readonly #onClientClosed: () => void;
  readonly #onEnding: (ending: Promise<void>) => void;
  readonly #backoff: Backoff;
  #opening: Promise<UpstreamSession> | undefined;
  #isOpening = false;
  #openedAt = 0;
  /** No attempt is made before this time. */
  #blockedUntil = 0;
  #blockedBy = "";
  /** Whether the session before expired soon after it was opened. */
  #hasExpired = false;
  #holders = 0;
  /** Holders that the end of the session would fail. */
  #calls = 0;
  #onFree: (() => void) | undefined;
  #lastUsedAt: number;
  /** The end of the session before. No other is opened until then, so that an entry never has two processes. */
  #before: Promise<void> | undefined;
  #isOver = false;

  /**
   * @param events `onClientClosed` is called when the client leaves; `onEnding` gets a promise for the end of each
   *   session, which never rejects.
   * @param before the end of the session in whose place that of this client is opened; it never rejects.
   */
  constructor(
    client: SessionClient,
    deps: ClientSessionsDeps,
    limits: Required<UpstreamLimits>,
    events: { readonly onClientClosed: () => void; readonly onEnding: (ending: Promise<void>) => void },
    before?: Promise<void>,
  ) {
    this.#client = client;
    this.#owner = client.pool === undefined ? client : currentOf(() => this.#client);
    this.#before = before;
    this.#deps = deps;
    this.#limits = limits;
    this.#onClientClosed = events.onClientClosed;
    this.#onEnding = events.onEnding;
    this.#backoff = new Backoff(limits, deps.random);
    this.#lastUsedAt = deps.now();
    client.closed.addEventListener("abort", this.#onClientClosed, { once: true });
  }

  /** The client that uses the session, or used it last. */
  get client(): SessionClient {
    return this.#client;
  }

  /** Passes the session on to another client of its pool. */
  passTo(client: SessionClient): void {
    this.#client.closed.removeEventListener("abort", this.#onClientClosed);
    this.#client = client;
    client.closed.addEventListener("abort", this.#onClientClosed, { once: true });
  }

  /** The session that is open or being opened. */
  get opening(): Promise<UpstreamSession> | undefined {
    return this.#opening;
  }

  /** Whether it has an open session. */
  get isReady(): boolean {
    return this.#opening !== undefined && !this.#isOpening;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Time of the last release, in milliseconds since the epoch. */
  get lastUsedAt(): number {
    return this.#lastUsedAt;
  }

  /** Whether calls hold the session. */
  get isCalled(): boolean {
    return this.#calls > 0;
  }

  /** Keeps the session open. The functions that it returns are safe to repeat. */
  hold(): SessionHold {
    this.#holders += 1;
    this.#calls += 1;
    let isCall = true;
    let isReleased = false;
    const yields = () => {
      if (!isCall) return;
      isCall = false;
      this.#calls -= 1;
      if (this.#calls === 0) this.#onFree?.();
    };
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#holders -= 1;
      this.#lastUsedAt = this.#deps.now();
      yields();
    };
    return { release, yields };
  }

  /** Calls `listener` when no call holds the session any more. */
  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /** Waits for the end of the pause after a failure. @throws {UpstreamError} `UPSTREAM_UNAVAILABLE` when it is too long */
  async passBlock(signal: AbortSignal): Promise<void> {
    const pauseMs = this.#pauseMs();
    if (this.#opening !== undefined || pauseMs <= 0) return;
    if (pauseMs > waitedPauseMaxMs) throw this.unavailable(this.#blockedBy);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }

  /** Opens a session. */
  open(): Promise<UpstreamSession> {
    const opening = this.#openAfter(this.#before);
    this.#opening = opening;
    this.#isOpening = true;
    this.#openedAt = this.#deps.now();
    const settled = () => {
      if (this.#opening === opening) this.#isOpening = false;
    };
    opening.then(settled, settled);
    opening.then(
      (session) => {
        const { closed } = session.connection;
        closed.addEventListener("abort", () => this.#ended(opening, session), { once: true });
        if (closed.aborted) this.#ended(opening, session);
      },
      (error: unknown) => this.#block(opening, error),
    );
    return opening;
  }

  unavailable(reason: string): UpstreamError {
    const { serverId } = this.#deps;
    return new UpstreamError(
      "UPSTREAM_UNAVAILABLE",
      `The server "${serverId}" is not available to this client: ${reason}`,
      {
        hint: `it is tried again in ${Math.max(1, Math.ceil(this.#pauseMs() / 1000))} s`,
        data: { server: serverId },
      },
    );
  }

  /** Closes the session. @returns its end, which never rejects; undefined if there is none and none is ending */
  end(): Promise<void> | undefined {
    this.#isOver = true;
    this.#client.closed.removeEventListener("abort", this.#onClientClosed);
    const opening = this.#opening;
    if (opening === undefined) return this.#before;
    this.#opening = undefined;
    // The caller of `open` already has the error of an opening that fails.
    const ending = opening.then((session) => session[Symbol.asyncDispose]()).catch(() => {});
    this.#onEnding(ending);
    return ending;
  }

  async #openAfter(before: Promise<void> | undefined): Promise<UpstreamSession> {
    if (before !== undefined) {
      await before;
      if (this.#before === before) this.#before = undefined;
    }
    // Its end, which closes the session, has been.
    if (this.#isOver) {
      throw new UpstreamError(
        "UPSTREAM_CLOSED",
        `The session with "${this.#deps.serverId}" is not needed any more`,
      );
    }
    return this.#deps.open(this.#owner);
  }

  #pauseMs(): number {
    return this.#blockedUntil - this.#deps.now();
  }

  #ended(opening: Promise<UpstreamSession>, session: UpstreamSession): void {
    if (this.#opening !== opening) return;
    const cause: unknown = session.connection.closed.reason;
    const isStable = this.#deps.now() - this.#openedAt >= stableAfterMs;
    if (isStable) this.#backoff.succeeded();
    // A server that forgets a session runs, and has another one at once; a server that forgets each one would have
    // sessions without end.
    const isFirst = isExpired(cause) && !this.#hasExpired;
    this.#hasExpired = isExpired(cause) && !isStable;
    if (isStable || isFirst) this.#opening = undefined;
    else this.#block(opening, cause);
    // The remaining processes of the session end too.
    const ending = session[Symbol.asyncDispose]().catch(() => {});
    this.#before = ending;
    this.#onEnding(ending);
  }

  #block(opening: Promise<UpstreamSession>, error: unknown): void {
    if (this.#opening !== opening) return;
    this.#opening = undefined;
    const { serverId, logger, scrub } = this.#deps;
    this.#blockedBy = reasonOf(error, scrub);
    const code = failureOf(error)?.code;
    const fields = { server: serverId, ...(code !== undefined && { code }), reason: this.#blockedBy };
    logger.warn(fields, "session of a client failed");
    const minPauseMs = requestedWaitMs(error, this.#limits.retryAfterMaxMs);
    this.#blockedUntil = this.#deps.now() + this.#backoff.failed(minPauseMs);
  }
}

/** Returns a client that is always the current one. */
function currentOf(current: () => ClientSession): ClientSession {
  return {
    get id() {
      return current().id;
    },
    get identity() {
      return current().identity;
    },
    get capabilities() {
      return current().capabilities;
    },
    get logLevel() {
      return current().logLevel;
    },
    get closed() {
      return current().closed;
    },
    notify: (...message) => current().notify(...message),
    ask: (...request) => current().ask(...request),
  };
}
