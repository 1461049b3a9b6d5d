/**
 * Sessions of a server that belong to one client each. A client that can be
 * asked (sampling, elicitation, roots) or that set a log level gets its own, so
 * that what the server asks or says reaches that client and no other. Opened at
 * the client's first call, closed with the client or after a time unused;
 * never closed while somebody holds it.
 */

import { setTimeout as delay } from "node:timers/promises";
import { McpError } from "@toolcrib/mcp";
import type { ClientSession } from "@toolcrib/tool";
import { type Backoff, createBackoff } from "./backoff.ts";
import type { UpstreamSession } from "./open-session.ts";
import { UpstreamError } from "./upstream-error.ts";
import { reasonOf } from "./upstream-failure.ts";
import type { UpstreamLimits } from "./upstream-options.ts";
import { untilAborted } from "./wait.ts";

/** Whether calls of `client` need a session of their own. */
export function needsOwnSession(client: ClientSession | undefined): client is ClientSession {
  if (client === undefined) return false;
  const { capabilities, logLevel } = client;
  return logLevel !== undefined || askable.some((name) => capabilities[name] !== undefined);
}

/** What of a client's capabilities its own session declares: what can be passed on to it. */
export function passedOnCapabilities(client: ClientSession): ClientSession["capabilities"] {
  const given = Object.entries(client.capabilities);
  return Object.fromEntries(given.filter(([name]) => askable.includes(name)));
}

const askable: readonly string[] = ["sampling", "elicitation", "roots"];

/** A session that stays open until it is released. */
export interface Lease {
  readonly session: UpstreamSession;
  release(): void;
}

/** The clients' own sessions with one server. */
export interface ClientSessions extends AsyncDisposable {
  /** Whether `client` has a session now. */
  has(client: ClientSession): boolean;
  /**
   * The session of `client`, opened when it has none.
   *
   * @throws {UpstreamError} `UPSTREAM_UNAVAILABLE` when it cannot be opened, `UPSTREAM_SESSION_LIMIT`; the signal's reason.
   */
  lease(client: ClientSession, signal: AbortSignal): Promise<Lease>;
  readonly size: number;
}

/** What the table needs of its server. */
export interface ClientSessionsDeps {
  readonly serverId: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Make a session for one client. */
  open(client: ClientSession): Promise<UpstreamSession>;
}

/** A client, from its first call to its end. */
interface Entry {
  readonly client: ClientSession;
  readonly backoff: Backoff;
  readonly forget: () => void;
  opening: Promise<UpstreamSession> | undefined;
  openedAt: number;
  /** Not tried again before this, and why. */
  blockedUntil: number;
  blockedBy: string;
  holders: number;
  lastUsedAt: number;
}

/** A pause that is over within this is waited for. */
const soonMs = 2000;
/** Idle sessions are looked for at most this often. */
const sweepMinMs = 1000;

/** Create the table; nothing is opened before the first lease. */
export function createClientSessions(
  deps: ClientSessionsDeps,
  limits: Required<UpstreamLimits>,
): ClientSessions {
  const { now } = deps;
  const entries = new Map<string, Entry>();
  const endings = new Set<Promise<unknown>>();
  let disposing: Promise<void> | undefined;
  let sweeping: NodeJS.Timeout | undefined;

  function sweep(): void {
    for (const entry of entries.values()) {
      if (entry.holders === 0 && now() - entry.lastUsedAt > limits.clientSessionIdleMs) drop(entry);
    }
  }

  function createEntry(client: ClientSession): Entry {
    const closed = () => drop(entry);
    const entry: Entry = {
      client,
      backoff: createBackoff(limits, deps.random),
      forget: () => client.closed.removeEventListener("abort", closed),
      opening: undefined,
      openedAt: 0,
      blockedUntil: 0,
      blockedBy: "",
      holders: 0,
      lastUsedAt: now(),
    };
    client.closed.addEventListener("abort", closed, { once: true });
    sweeping ??= setInterval(sweep, Math.max(sweepMinMs, limits.clientSessionIdleMs / 4)).unref();
    entries.set(client.id, entry);
    return entry;
  }

  function drop(entry: Entry): void {
    if (entries.get(entry.client.id) === entry) entries.delete(entry.client.id);
    entry.forget();
    const { opening } = entry;
    if (opening === undefined) return;
    entry.opening = undefined;
    // An opening that fails has told its caller already.
    end(opening.then((session) => session[Symbol.asyncDispose]()).catch(() => {}));
  }

  /** Remember what is under way, for disposal to wait for. */
  function end(ending: Promise<void>): void {
    endings.add(ending);
    void ending.finally(() => endings.delete(ending));
  }

  function makeRoom(): void {
    if (entries.size < limits.maxClientSessions) return;
    let oldest: Entry | undefined;
    for (const entry of entries.values()) {
      if (entry.holders === 0 && (oldest === undefined || entry.lastUsedAt < oldest.lastUsedAt))
        oldest = entry;
    }
    if (oldest === undefined) {
      throw new UpstreamError(
        "UPSTREAM_SESSION_LIMIT",
        `All ${limits.maxClientSessions} client sessions of the server "${deps.serverId}" are in use`,
        { hint: "try again when other clients' calls have ended", data: { server: deps.serverId } },
      );
    }
    drop(oldest);
  }

  function open(entry: Entry): Promise<UpstreamSession> {
    const opening = deps.open(entry.client);
    entry.opening = opening;
    entry.openedAt = now();
    opening.then(
      (session) => {
        const { closed } = session.connection;
        closed.addEventListener("abort", () => ended(entry, opening, session), { once: true });
        if (closed.aborted) ended(entry, opening, session);
      },
      (error: unknown) => block(entry, opening, reasonOf(error)),
    );
    return opening;
  }

  function ended(entry: Entry, opening: Promise<UpstreamSession>, session: UpstreamSession): void {
    if (entry.opening !== opening) return;
    const cause: unknown = session.connection.closed.reason;
    const isExpired = cause instanceof McpError && cause.code === "MCP_SESSION_EXPIRED";
    const isStable = now() - entry.openedAt >= limits.stableAfterMs;
    if (isStable) entry.backoff.succeeded();
    if (isStable || isExpired) entry.opening = undefined;
    else block(entry, opening, reasonOf(cause));
    // The rest of its process tree goes too.
    end(session[Symbol.asyncDispose]());
  }

  function block(entry: Entry, opening: Promise<UpstreamSession>, reason: string): void {
    if (entry.opening !== opening) return;
    entry.opening = undefined;
    entry.blockedBy = reason;
    entry.blockedUntil = now() + entry.backoff.failed();
  }

  /** A client whose sessions end at once is made to wait, like a server that does. */
  async function passBlock(entry: Entry, signal: AbortSignal): Promise<void> {
    const pauseMs = entry.blockedUntil - now();
    if (entry.opening !== undefined || pauseMs <= 0) return;
    if (pauseMs > soonMs) throw unavailable(entry.blockedBy, pauseMs);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }

  function unavailable(reason: string, pauseMs: number): UpstreamError {
    return new UpstreamError(
      "UPSTREAM_UNAVAILABLE",
      `The server "${deps.serverId}" is not available to this client: ${reason}`,
      {
        hint: `it is tried again in ${Math.max(1, Math.ceil(pauseMs / 1000))} s`,
        data: { server: deps.serverId },
      },
    );
  }

  function refuseIfOver(client: ClientSession): void {
    if (disposing !== undefined) {
      throw new UpstreamError("UPSTREAM_CLOSED", `The server "${deps.serverId}" was stopped`);
    }
    client.closed.throwIfAborted();
  }

  return {
    get size() {
      return entries.size;
    },
    has: (client) => entries.get(client.id)?.opening !== undefined,
    async lease(client, signal) {
      refuseIfOver(client);
      if (!entries.has(client.id)) makeRoom();
      const entry = entries.get(client.id) ?? createEntry(client);
      entry.holders += 1;
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        entry.holders -= 1;
        entry.lastUsedAt = now();
      };
      try {
        await passBlock(entry, signal);
        // The client may have left, or the server been stopped, during a pause.
        refuseIfOver(client);
        const opening = entry.opening ?? open(entry);
        const session = await untilAborted(opening, signal).catch((error: unknown) => {
          if (signal.aborted) throw signal.reason;
          refuseIfOver(client);
          throw unavailable(reasonOf(error), entry.blockedUntil - now());
        });
        return { session, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    [Symbol.asyncDispose]() {
      disposing ??= (async () => {
        clearInterval(sweeping);
        for (const entry of [...entries.values()]) drop(entry);
        await Promise.allSettled([...endings]);
      })();
      return disposing;
    },
  };
}
