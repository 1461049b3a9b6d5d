/**
 * The tools that a server lists only in the sessions of some clients. A server can change its tools for one session,
 * when a call in it asks for that. The client of the session sees those that the shared session does not list; other
 * clients do not, and the index treats them as any other tool.
 */

import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { StartTimer } from "@toolcrib/lifecycle";
import { type Identity, identityKey, isOperator, type Tool } from "@toolcrib/tool";
import type { UpstreamSession } from "./upstream-session.ts";

/** Dependencies of `OwnLists`. */
export interface OwnListsDeps {
  /** Reads the tools of a session. */
  readonly read: (session: UpstreamSession) => Promise<readonly Tool[]>;
  readonly now: () => number;
  readonly startBackgroundTimer: StartTimer;
  /** Milliseconds in which several reports of a session are one. */
  readonly pauseMs: number;
  /** Reports that the tools of a client can be other ones. */
  readonly onChange: () => void;
}

/** Tools of one session besides those of the shared one. @limit server */
const maxAdded = 1000;

/** The lists of clients' own sessions that reported changes. */
export class OwnLists {
  readonly #deps: OwnListsDeps;
  readonly #lists = new Map<UpstreamSession, readonly Tool[]>();
  /** Sessions whose list is read, or will be; `true` if it changed again meanwhile. */
  readonly #reading = new Map<UpstreamSession, boolean>();
  /** Time that the last list took, in milliseconds. */
  #lastReadMs = 0;
  #added: { readonly of: readonly Tool[]; readonly tools: readonly Tool[] } | undefined;

  constructor(deps: OwnListsDeps) {
    this.#deps = deps;
  }

  /** Reads the list of `session` again, once for several reports. */
  announced(session: UpstreamSession): void {
    if (this.#reading.has(session)) {
      this.#reading.set(session, true);
      return;
    }
    this.#reading.set(session, false);
    // Reading takes at most half of the time for all sessions together, however often their servers report changes.
    const pauseMs = Math.max(this.#deps.pauseMs, this.#lastReadMs * this.#reading.size);
    this.#deps.startBackgroundTimer(pauseMs, () => void this.#refresh(session));
  }

  /** Returns `shared` with the tools of own sessions that it lacks; the same array until one of them changes. */
  addedTo(shared: readonly Tool[]): readonly Tool[] {
    if (this.#lists.size === 0) return shared;
    if (this.#added?.of !== shared) this.#added = { of: shared, tools: this.#merged(shared) };
    return this.#added.tools;
  }

  async #refresh(session: UpstreamSession): Promise<void> {
    const { closed } = session.connection;
    const startedAt = this.#deps.now();
    try {
      const tools = await this.#deps.read(session);
      if (closed.aborted) return;
      if (!this.#lists.has(session))
        closed.addEventListener("abort", () => this.#drop(session), { once: true });
      this.#lists.set(session, tools);
      this.#changed();
    } catch {
      // The end of a session is reported elsewhere, and a list that cannot be read stays as it was.
    } finally {
      this.#lastReadMs = this.#deps.now() - startedAt;
      const isStale = this.#reading.get(session) === true && !closed.aborted;
      this.#reading.delete(session);
      if (isStale) this.announced(session);
    }
  }

  #drop(session: UpstreamSession): void {
    if (this.#lists.delete(session)) this.#changed();
  }

  #changed(): void {
    this.#added = undefined;
    this.#deps.onChange();
  }

  #merged(shared: readonly Tool[]): readonly Tool[] {
    const known = new Set(shared.map(({ definition }) => definition.name));
    const added = new Map<string, { readonly tool: Tool; readonly owners: Set<string> }>();
    for (const [{ owner }, tools] of this.#lists) {
      if (owner?.identity === undefined) continue;
      const key = identityKey(owner.identity);
      for (const tool of tools) {
        const { name } = tool.definition;
        const first = added.get(name);
        // Another definition of the same name has no place next to the first one.
        if (first !== undefined && isSame(first.tool, tool)) first.owners.add(key);
        else if (first === undefined && !known.has(name) && added.size < maxAdded)
          added.set(name, { tool, owners: new Set([key]) });
      }
    }
    if (added.size === 0) return shared;
    const own = [...added.values()].map(({ tool, owners }) => ({
      ...tool,
      listedFor: (identity: Identity) => isOperator(identity) || owners.has(identityKey(identity)),
    }));
    return [...shared, ...own];
  }
}

function isSame(one: Tool, other: Tool): boolean {
  return isSameJson(one.definition as unknown as JsonObject, other.definition as unknown as JsonObject);
}
