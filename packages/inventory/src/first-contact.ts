/**
 * Waits for sources that make first contact, so that the first list of a client
 * is complete and the first call of a tool finds it: many clients list once. A
 * source that was ready, or has failed, is never waited for.
 *
 * It starts nothing, and a wait never fails: the caller finds what is listed after it.
 */

import { type Identity, identityKey } from "@toolcrib/tool";
import type { RosterEntry, SourceRoster } from "./source-roster.ts";

/** The client that lists or searches. */
export interface ListingClient {
  /** Its session; absent in the modern era. */
  readonly session?: object | undefined;
  readonly identity: Identity;
}

/** A program, and the time limit of the call that runs it. */
interface ListingProgram {
  readonly code: string;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** Longest wait of a client that was there before, in milliseconds. */
const againMs = 300;

/** Maximum number of identities without a session whose waits are remembered; more are not waited for. */
const maxIdentities = 1000;

/** Waits for the first contact of the sources of one gateway. */
export class FirstContact {
  readonly #roster: Pick<SourceRoster, "entries">;
  #waitMs: number;
  /** The sessions that were open when other sources came; undefined before any came. */
  #known: WeakSet<object> | undefined;
  /** The one wait of each client, also after its end. */
  #sessions = new WeakMap<object, Map<string, Promise<void>>>();
  /** The same for clients without a session. Empty when there is nothing to wait for. */
  readonly #identities = new Map<string, Promise<void>>();

  /** @param waitMs longest time that a client's first list or search waits, in milliseconds */
  constructor(roster: Pick<SourceRoster, "entries">, waitMs: number) {
    this.#roster = roster;
    this.#waitMs = waitMs;
  }

  /**
   * Lets each client wait once more, because other sources make first contact: for a moment only, because the client
   * knows how to list again.
   *
   * @param waitMs as for the constructor, for clients that come later
   * @param clients the sessions that are open
   */
  renew(waitMs: number, clients: Iterable<object>): void {
    this.#waitMs = waitMs;
    this.#sessions = new WeakMap();
    this.#identities.clear();
    this.#known = new WeakSet(clients);
  }

  /** The sources whose lists are not known yet. */
  get pending(): readonly RosterEntry[] {
    return this.#roster.entries.filter(isPending);
  }

  /**
   * Waits until the lists of the sources are known, or could not be read, but only once for each client and within the
   * time limit.
   *
   * @param serverId waits for this source only.
   * @returns undefined when there is nothing to wait for.
   */
  untilListed({ session, identity }: ListingClient, serverId?: string): Promise<void> | undefined {
    const pending = this.pending.filter(({ id }) => serverId === undefined || id === serverId);
    if (pending.length === 0) {
      if (serverId === undefined) this.#identities.clear();
      return undefined;
    }
    const waits = session === undefined ? this.#identities : this.#waitsOf(session);
    const key = `${serverId ?? ""} ${identityKey(identity)}`;
    const known = waits.get(key);
    if (known !== undefined) return known;
    if (waits.size >= maxIdentities) return undefined;
    const isKnown = this.#known !== undefined && (session === undefined || this.#known.has(session));
    const waiting = untilSettled(pending, isKnown ? Math.min(this.#waitMs, againMs) : this.#waitMs);
    waits.set(key, waiting);
    return waiting;
  }

  /**
   * Waits as `untilListed`, and for the sources that a program names, within the time limit of its call.
   *
   * @param now milliseconds since the epoch.
   */
  untilListedFor(
    client: ListingClient,
    { code, signal, deadline }: ListingProgram,
    now: number,
  ): Promise<unknown> | undefined {
    const forAll = this.untilListed(client);
    const named = this.pending.filter(({ id }) => code.includes(id));
    const forNamed = this.untilKnown(named, Math.max(0, deadline - now), signal);
    return forNamed === undefined ? forAll : Promise.all([forNamed, forAll]);
  }

  #waitsOf(session: object): Map<string, Promise<void>> {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const waits = new Map<string, Promise<void>>();
    this.#sessions.set(session, waits);
    return waits;
  }

  /**
   * Waits until the lists of `entries` are known, or could not be read.
   *
   * @param signal ends the wait.
   * @returns undefined when there is nothing to wait for.
   */
  untilKnown(
    entries: readonly RosterEntry[],
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> | undefined {
    const pending = entries.filter(isPending);
    return pending.length === 0 ? undefined : untilSettled(pending, waitMs, signal);
  }
}

function isPending({ source }: RosterEntry): boolean {
  return source.health().state === "starting" && source.hasLists?.() !== true;
}

function untilSettled(entries: readonly RosterEntry[], waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const open = new Set(entries);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      for (const unsubscribe of unsubscribes) unsubscribe();
      resolve();
    };
    const unsubscribes = entries.map((entry) =>
      entry.source.onChange(() => {
        if (isPending(entry)) return;
        open.delete(entry);
        if (open.size === 0) end();
      }),
    );
    const timer = setTimeout(end, waitMs);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}
