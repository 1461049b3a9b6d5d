/**
 * The watchers of one server's resources. A watch belongs to one session at a
 * time (`session-topics.ts`) and outlives it: it moves to the next session, and
 * its watcher then gets an update, because the resource can have changed
 * meanwhile.
 *
 * A watcher gets only updates of what it watches, and only from the session that
 * its watch belongs to.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { ClientSession, ResourceWatcher } from "@toolcrib/tool";
import type { Lease } from "./client-sessions.ts";
import { SessionTopics, type SessionTopicsDeps } from "./session-topics.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** Dependencies of `ResourceWatch`. */
export interface ResourceWatchDeps extends Omit<SessionTopicsDeps, "notReported"> {
  readonly logger: Logger;
  /** URIs that can be watched at a time. A client gets another one while it watches fewer than are free. */
  readonly maxUris: number;
  /** Leases the session for the watches of a client. Rejects with the reason of `signal`. */
  lease(client: ClientSession | undefined, signal: AbortSignal): Promise<Lease>;
}

/** A watcher's watch of one URI. */
interface Watch {
  readonly uri: string;
  readonly watcher: ResourceWatcher;
  /** Stops listening for the end of the client. */
  readonly forget: () => void;
  /** Aborts when the watch is over, so that it does not go on waiting for a session. */
  readonly over: AbortController;
  /** The last attempt to place the watch on a session. */
  placed: Promise<void>;
  /** The session that the watch is placed on. */
  lease: Lease | undefined;
  readonly isOver: boolean;
}

/** Watches that are moved to another session at a time. */
const movedAtOnce = 32;

/** The watchers of one server's resources. */
export class ResourceWatch {
  readonly #deps: ResourceWatchDeps;
  readonly #topicsDeps: SessionTopicsDeps;
  readonly #watches = new Map<string, Map<ResourceWatcher, Watch>>();
  /** The number of watches of each URI, by the client whose share they use. */
  readonly #held = new Map<string, Map<string, number>>();
  readonly #topics = new Map<UpstreamSession, SessionTopics<Watch>>();

  constructor(deps: ResourceWatchDeps) {
    this.#deps = deps;
    this.#topicsDeps = {
      ...deps,
      notReported: (uri) => this.#refused(`The server does not report changes of "${uri}"`),
    };
  }

  /**
   * Watches a resource for `watcher`, until `remove` or the end of its client.
   *
   * @throws {UpstreamError} `UPSTREAM_WATCH_REFUSED`; what the request to the server throws.
   */
  async add(uri: string, watcher: ResourceWatcher): Promise<void> {
    const known = this.#watches.get(uri)?.get(watcher);
    if (known !== undefined) return known.placed;
    if (!this.#watches.has(uri)) this.#checkShare(watcher);
    const client = watcher.session;
    const closed = () => void this.remove(uri, watcher).catch(() => {});
    client?.closed.throwIfAborted();
    client?.closed.addEventListener("abort", closed, { once: true });
    const watch: Watch = {
      uri,
      watcher,
      forget: () => client?.closed.removeEventListener("abort", closed),
      over: new AbortController(),
      placed: Promise.resolve(),
      lease: undefined,
      get isOver() {
        return this.over.signal.aborted;
      },
    };
    this.#list(watch);
    watch.placed = this.#place(watch);
    try {
      await watch.placed;
    } catch (error) {
      this.#unlist(watch);
      throw error;
    }
  }

  async remove(uri: string, watcher: ResourceWatcher): Promise<void> {
    const watch = this.#watches.get(uri)?.get(watcher);
    if (watch === undefined) return;
    this.#unlist(watch);
    // Where the server is being asked for it, that comes first; it is not waited for a session.
    await watch.placed.catch(() => {});
    try {
      if (watch.lease !== undefined) await this.#topics.get(watch.lease.session)?.remove(watch);
    } finally {
      release(watch);
    }
  }

  /** Passes a notification that `session` sent on to the watchers of the resource. */
  notified(method: string, params: JsonObject, session: UpstreamSession): void {
    this.#topics.get(session)?.notified(method, params);
  }

  /** Notifies the watchers on `session`, and has the lists read again: changes can have been lost. */
  missed(session: UpstreamSession): void {
    const topics = this.#topics.get(session);
    if (topics === undefined) return;
    this.#deps.onGap();
    topics.missed();
  }

  /** Whether a resource is watched on `session`. */
  isWatchedOn(session: UpstreamSession): boolean {
    return (this.#topics.get(session)?.watches().length ?? 0) > 0;
  }

  /** Listens to a new shared session, and moves the watches that have no session to it. */
  async restore(session: UpstreamSession): Promise<void> {
    this.#topicsOf(session).start();
    const all = [...this.#watches.values()].flatMap((known) => [...known.values()]);
    await this.#move(all.filter(({ lease }) => lease === undefined));
  }

  /** @throws {UpstreamError} where no URI is free for a watcher */
  #checkShare({ holder }: ResourceWatcher): void {
    const { maxUris } = this.#deps;
    const free = maxUris - this.#watches.size;
    const hint = "unsubscribe from some first";
    if (free <= 0) throw this.#refused(`More than ${maxUris} resources are watched`, hint);
    const own = holder === undefined ? 0 : (this.#held.get(holder)?.size ?? 0);
    if (own >= free)
      throw this.#refused(
        `This client watches ${own} resources, its share of ${maxUris} for all clients`,
        hint,
      );
  }

  /** Counts a watch of a client. @param change 1 or -1 */
  #count({ uri, watcher: { holder } }: Watch, change: number): void {
    if (holder === undefined) return;
    const held = this.#held.get(holder) ?? new Map<string, number>();
    const count = (held.get(uri) ?? 0) + change;
    if (count > 0) this.#held.set(holder, held.set(uri, count));
    else if (held.delete(uri) && held.size === 0) this.#held.delete(holder);
  }

  #list(watch: Watch): void {
    this.#count(watch, 1);
    const known = this.#watches.get(watch.uri) ?? new Map<ResourceWatcher, Watch>();
    this.#watches.set(watch.uri, known.set(watch.watcher, watch));
  }

  #unlist(watch: Watch): void {
    if (!watch.isOver) this.#count(watch, -1);
    watch.over.abort();
    watch.forget();
    const known = this.#watches.get(watch.uri);
    known?.delete(watch.watcher);
    if (known?.size === 0) this.#watches.delete(watch.uri);
  }

  #topicsOf(session: UpstreamSession): SessionTopics<Watch> {
    const known = this.#topics.get(session);
    if (known !== undefined) return known;
    const topics = new SessionTopics<Watch>(session, this.#topicsDeps);
    this.#topics.set(session, topics);
    session.connection.closed.addEventListener("abort", () => this.#abandon(topics), { once: true });
    return topics;
  }

  /** Places a watch on a session. */
  async #place(watch: Watch): Promise<void> {
    const { signal } = watch.over;
    const lease = await this.#deps.lease(watch.watcher.session, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (lease === undefined) return;
    lease.yields?.();
    if (watch.isOver || lease.session.connection.closed.aborted) {
      lease.release();
      if (!watch.isOver) throw this.#refused("The session of the server ended before the watch began");
      return;
    }
    watch.lease = lease;
    try {
      watch.watcher.beforeSend?.();
      await this.#topicsOf(lease.session).add(watch);
    } catch (error) {
      release(watch);
      throw error;
    }
  }

  /** Takes the watches off a session that ended. */
  #abandon(topics: SessionTopics<Watch>): void {
    this.#topics.delete(topics.session);
    const watches = topics.watches();
    for (const watch of watches) release(watch);
    // A client's own session can be opened again at once; `restore` follows when the shared session is open again.
    void this.#move(watches.filter(({ watcher }) => watcher.session !== undefined));
  }

  async #move(watches: readonly Watch[]): Promise<void> {
    for (let start = 0; start < watches.length; start += movedAtOnce) {
      await Promise.all(watches.slice(start, start + movedAtOnce).map((watch) => this.#moveOne(watch)));
    }
  }

  async #moveOne(watch: Watch): Promise<void> {
    if (watch.isOver || watch.lease !== undefined) return;
    let isMoved = false;
    watch.placed = watch.placed
      .catch(() => {})
      .then(async () => {
        if (watch.isOver || watch.lease !== undefined) return;
        await this.#place(watch);
        isMoved = true;
      });
    try {
      await watch.placed;
      // Changes between the two sessions were not reported, so the watcher reads the resource again.
      if (isMoved && !watch.isOver) watch.watcher.updated(watch.uri);
    } catch (error) {
      // The server, or the resource after a restart of the server, may be gone. The next session is another attempt.
      const { logger, serverId: server } = this.#deps;
      logger.debug({ server, uri: watch.uri, reason: messageOf(error) }, "resource is not watched");
    }
  }

  #refused(message: string, hint?: string): UpstreamError {
    const data = { server: this.#deps.serverId };
    return new UpstreamError("UPSTREAM_WATCH_REFUSED", message, { hint, data });
  }
}

function release(watch: Watch): void {
  watch.lease?.release();
  watch.lease = undefined;
}

/** Returns the milliseconds for which a replaced stream of changes stays open; see `ChangeStreamDeps`. */
export function lingerMsOf(kind: UpstreamSettings["kind"]): number {
  return kind === "streamable_http" ? httpLingerMs : 0;
}

const httpLingerMs = 10;
