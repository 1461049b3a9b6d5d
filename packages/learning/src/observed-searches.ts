/**
 * The searches that wait for a call of their client: which tools a successful call teaches, and which words.
 *
 * A search teaches a tool only if it showed the tool, and the call came from the same client and session within the
 * window. The searches before it teach the tool too, if none of them led to a call: they are other words for
 * the same wish. A search teaches a few tools at most, and each of them once.
 *
 * In memory only. No clock: its caller passes the time.
 */

import { type ClientSession, type Identity, identityKey } from "@toolcrib/tool";
import { observationLimits } from "./limits.ts";

/** The client of a search or call. */
export interface Searcher {
  readonly identity: Identity;
  /** Absent where requests have no session. */
  readonly session?: Pick<ClientSession, "id"> | undefined;
}

interface ObservedSearch {
  readonly query: string;
  readonly at: number;
  readonly shown: ReadonlySet<string>;
  /** Tools that were called after it. */
  readonly taught: Set<string>;
}

/** The searches of a client by session, the one that was used last at the end. */
type Sessions = Map<string, ObservedSearch[]>;

/** Searches that wait for calls. */
export class ObservedSearches {
  readonly #clients = new Map<string, Sessions>();

  /** Whether no search waits for a call. */
  get isEmpty(): boolean {
    return this.#clients.size === 0;
  }

  /** Adds a search that showed the tools `shown`. */
  add({ identity, session }: Searcher, query: string, shown: readonly string[], now: number): void {
    const key = identityKey(identity);
    const sessions: Sessions = this.#clients.get(key) ?? new Map();
    moveToEnd(this.#clients, key, sessions, observationLimits.clients);
    const id = session?.id ?? "";
    const searches = (sessions.get(id) ?? []).filter((one) => one.query !== query);
    searches.push({ query, at: now, shown: new Set(shown), taught: new Set() });
    if (searches.length > observationLimits.searchesPerSession) searches.shift();
    moveToEnd(sessions, id, searches, observationLimits.sessionsPerClient);
  }

  /** Returns the searches by which a client found the tool that it called now. */
  take({ identity, session }: Searcher, tool: string, now: number): readonly string[] {
    const sessions = this.#clients.get(identityKey(identity));
    const searches = sessions?.get(session?.id ?? "") ?? [];
    const found = searches.findLastIndex((one) => isRecent(one, now) && one.shown.has(tool));
    const search = searches[found];
    if (search === undefined || search.taught.has(tool)) return [];
    if (search.taught.size >= observationLimits.toolsPerSearch) return [];
    const isFirst = search.taught.size === 0;
    search.taught.add(tool);
    const queries = [search.query];
    for (let at = found - 1; at >= 0 && isFirst; at -= 1) {
      const earlier = searches[at]!;
      if (earlier.taught.size > 0 || !isRecent(earlier, now)) break;
      earlier.taught.add(tool);
      queries.push(earlier.query);
    }
    return queries;
  }

  /** Drops the searches whose window is over. */
  prune(now: number): void {
    for (const [key, sessions] of this.#clients) {
      for (const [id, searches] of sessions) {
        const last = searches.at(-1);
        if (last === undefined || !isRecent(last, now)) sessions.delete(id);
      }
      if (sessions.size === 0) this.#clients.delete(key);
    }
  }
}

function isRecent({ at }: ObservedSearch, now: number): boolean {
  return now - at <= observationLimits.windowMs;
}

function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > max && first !== undefined) map.delete(first);
}
