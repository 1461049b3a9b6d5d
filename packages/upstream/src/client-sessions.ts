/**
 * Sessions of a server that belong to one client each. A client that can be
 * asked (sampling, elicitation, roots) or that set a log level gets its own, so
 * that what the server asks or says reaches that client and no other. Opened at
 * the client's first call, closed with the client or after a time unused.
 */

import type { ClientSession } from "@toolcrib/tool";
import { upstreamSessionLimit } from "./codes.ts";
import type { UpstreamSession } from "./open-session.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Whether calls of `client` need a session of their own. */
export function needsOwnSession(client: ClientSession | undefined): client is ClientSession {
  if (client === undefined) return false;
  const { capabilities, logLevel } = client;
  const isAskable = ["sampling", "elicitation", "roots"].some((name) => capabilities[name] !== undefined);
  return isAskable || logLevel !== undefined;
}

interface Entry {
  readonly opening: Promise<UpstreamSession>;
  lastUsedAt: number;
  session: UpstreamSession | undefined;
  readonly forget: () => void;
}

/** The clients' own sessions with one server. */
export interface ClientSessions extends AsyncDisposable {
  /** The session of `client`, opened when it has none. @throws what opening throws; `UPSTREAM_SESSION_LIMIT` */
  get(client: ClientSession): Promise<UpstreamSession>;
  readonly size: number;
}

/** Create the table. `open` makes a session for one client. */
export function createClientSessions(
  open: (client: ClientSession) => Promise<UpstreamSession>,
  now: () => number,
  limits: { readonly maxClientSessions: number; readonly clientSessionIdleMs: number },
): ClientSessions {
  const entries = new Map<string, Entry>();
  const sweep = setInterval(
    () => {
      for (const [id, entry] of entries) {
        const isIdle =
          entry.session?.callCount === 0 && now() - entry.lastUsedAt > limits.clientSessionIdleMs;
        if (isIdle) drop(id);
      }
    },
    Math.max(1000, limits.clientSessionIdleMs / 4),
  );
  sweep.unref();

  function drop(id: string): void {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    entry.forget();
    // An opening that fails has told its caller already.
    void entry.opening.then((session) => session[Symbol.asyncDispose]()).catch(() => {});
  }

  function makeRoom(): void {
    if (entries.size < limits.maxClientSessions) return;
    let oldest: [string, Entry] | undefined;
    for (const candidate of entries) {
      const isIdle = candidate[1].session?.callCount === 0;
      if (isIdle && (oldest === undefined || candidate[1].lastUsedAt < oldest[1].lastUsedAt))
        oldest = candidate;
    }
    if (oldest === undefined) {
      throw new UpstreamError(
        upstreamSessionLimit,
        `All ${limits.maxClientSessions} client sessions of this server are in use`,
        { hint: "try again when other clients' calls have ended" },
      );
    }
    drop(oldest[0]);
  }

  return {
    get size() {
      return entries.size;
    },
    async get(client) {
      const known = entries.get(client.id);
      if (known !== undefined) {
        known.lastUsedAt = now();
        return known.opening;
      }
      makeRoom();
      const closed = () => drop(client.id);
      const entry: Entry = {
        opening: open(client),
        lastUsedAt: now(),
        session: undefined,
        forget: () => client.closed.removeEventListener("abort", closed),
      };
      entries.set(client.id, entry);
      client.closed.addEventListener("abort", closed, { once: true });
      try {
        const session = await entry.opening;
        entry.session = session;
        session.connection.closed.addEventListener("abort", () => {
          if (entries.get(client.id) === entry) drop(client.id);
        });
        return session;
      } catch (error) {
        if (entries.get(client.id) === entry) drop(client.id);
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(sweep);
      const openings = [...entries.values()].map(({ opening }) => opening);
      for (const id of [...entries.keys()]) drop(id);
      await Promise.allSettled(openings.map(async (opening) => (await opening)[Symbol.asyncDispose]()));
    },
  };
}
