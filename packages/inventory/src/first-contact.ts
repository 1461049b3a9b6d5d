/**
 * Waits for sources that make first contact, so that the first list of a client
 * is complete and the first call of a tool finds it: many clients list once. A
 * source that was ready, or has failed, is never waited for.
 *
 * A list waits for as long as that is useful. A source that has answered its
 * handshake is about to list. One that has not is waited for as long again as
 * the others took: it can hang, or its package can be on its way. Where the
 * client could use nothing yet, the list waits up to its limit.
 *
 * It starts nothing, and a wait never fails: the caller finds what is listed after it.
 */

import { type Identity, identityKey } from "@toolcrib/tool";
import type { RosterEntry, SourceRoster } from "./source-roster.ts";
import type { Visibility } from "./visibility.ts";

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

/**
 * A source that has not answered is waited for this part of the limit since it was started, at least: servers take
 * different times to start.
 */
const silentPart = 0.2;
/** And for this many times as long as the slowest of the others took, so that a slow machine needs no other limit. */
const silentFactor = 2;

/** Maximum number of identities without a session whose waits are remembered; more are not waited for. */
const maxIdentities = 1000;

/** Dependencies of the waits. */
interface FirstContactDeps {
  readonly roster: Pick<SourceRoster, "entries">;
  readonly visibility: Pick<Visibility, "mayReach" | "isUsable">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The list that a client waits for. */
interface AwaitedList {
  readonly identity: Identity;
  /** The only source that it lists. @default all */
  readonly serverId: string | undefined;
  readonly limitMs: number;
}

/** Waits for the first contact of the sources of one gateway. */
export class FirstContact {
  readonly #deps: FirstContactDeps;
  #waitMs: number;
  /** The sessions that were open when other sources came; undefined before any came. */
  #known: WeakSet<object> | undefined;
  /** The one wait of each client, also after its end. */
  #sessions = new WeakMap<object, Map<string, Promise<void>>>();
  /** The same for clients without a session. Empty when there is nothing to wait for. */
  readonly #identities = new Map<string, Promise<void>>();

  /** @param waitMs longest time that a client's first list or search waits, in milliseconds */
  constructor(deps: FirstContactDeps, waitMs: number) {
    this.#deps = deps;
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
    return this.#deps.roster.entries.filter(isPending);
  }

  /**
   * Waits until the lists of the sources are known, or could not be read, or a longer wait is of no use, but only once
   * for each client and within the time limit. Sources of which the client may use nothing are not waited for.
   *
   * @param serverId waits for this source only.
   * @returns undefined when there is nothing to wait for.
   */
  untilListed({ session, identity }: ListingClient, serverId?: string): Promise<void> | undefined {
    if (this.pending.length === 0) {
      this.#identities.clear();
      return undefined;
    }
    const waits = session === undefined ? this.#identities : this.#waitsOf(session);
    const key = `${serverId ?? ""} ${identityKey(identity)}`;
    const known = waits.get(key);
    if (known !== undefined) return known;
    if (waits.size >= maxIdentities) return undefined;
    const isKnown = this.#known !== undefined && (session === undefined || this.#known.has(session));
    const limitMs = isKnown ? Math.min(this.#waitMs, againMs) : this.#waitMs;
    const waiting = this.#untilUseful({ identity, serverId, limitMs });
    if (waiting !== undefined) waits.set(key, waiting);
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

  /** Waits for a list for as long as that is useful. Returns undefined when it is not. */
  #untilUseful(list: AwaitedList): Promise<void> | undefined {
    const { now } = this.#deps;
    const endsAt = now() + list.limitMs;
    const leftMs = () => Math.min(endsAt - now(), this.#usefulMs(list));
    if (leftMs() <= 0) return undefined;
    return untilDone(this.#pendingOf(list), { limitMs: list.limitMs, leftMs });
  }

  /** The sources that can still add to a list. */
  #pendingOf({ identity, serverId }: AwaitedList): readonly RosterEntry[] {
    const { visibility } = this.#deps;
    return this.pending.filter(
      ({ id }) => (serverId === undefined || id === serverId) && visibility.mayReach(identity, id),
    );
  }

  /** Milliseconds for which waiting is useful now. A change of a source can make it longer or end it. */
  #usefulMs(list: AwaitedList): number {
    const { roster, visibility, now } = this.#deps;
    const pending = this.#pendingOf(list);
    if (pending.length === 0) return 0;
    if (pending.some(({ source }) => source.health().phase === "listing")) return list.limitMs;
    const others = list.serverId === undefined ? roster.entries.filter(isOther) : [];
    if (!others.some(({ id }) => visibility.isUsable(list.identity, id))) return list.limitMs;
    const startedAt = pending.map(({ source }) => source.health().since);
    const readyAt = others.map(({ source }) => source.health()).filter(({ state }) => state === "ready");
    const slowestMs = Math.max(0, ...readyAt.map(({ since }) => since - Math.min(...startedAt)));
    const silentMs = Math.max(this.#waitMs * silentPart, slowestMs * silentFactor);
    return Math.max(...startedAt) + silentMs - now();
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
    if (pending.length === 0) return undefined;
    const endsAt = this.#deps.now() + waitMs;
    const leftMs = () => (pending.some(isPending) ? endsAt - this.#deps.now() : 0);
    return untilDone(pending, { limitMs: waitMs, leftMs, signal });
  }
}

function isPending({ source }: RosterEntry): boolean {
  return source.health().state === "starting" && source.hasLists?.() !== true;
}

/** Whether a source that is not pending belongs to the operator: one of Toolcrib's own makes no list useful. */
function isOther(entry: RosterEntry): boolean {
  return !entry.facts.isOwn && !isPending(entry);
}

/**
 * Resolves when no time is left, which each change of a source can decide, when `signal` aborts, and after `limitMs` in
 * any case: the clock of the machine can be set back meanwhile.
 */
function untilDone(
  entries: readonly RosterEntry[],
  {
    limitMs,
    leftMs,
    signal,
  }: {
    readonly limitMs: number;
    readonly leftMs: () => number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      clearTimeout(limit);
      signal?.removeEventListener("abort", end);
      for (const unsubscribe of unsubscribes) unsubscribe();
      resolve();
    };
    const check = () => {
      clearTimeout(timer);
      const ms = signal?.aborted === true ? 0 : leftMs();
      if (ms <= 0) end();
      else timer = setTimeout(check, ms);
    };
    const limit = setTimeout(end, limitMs);
    const unsubscribes = entries.map(({ source }) => source.onChange(check));
    signal?.addEventListener("abort", end, { once: true });
    check();
  });
}
