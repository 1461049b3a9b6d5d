/**
 * Who watches which resource of a server. A legacy session gets a
 * `resources/subscribe` for the first watcher of a URI and an unsubscribe after
 * the last; a modern one has one stream for all of them (`change-stream.ts`).
 * A watch outlives its session: it moves to the next one.
 *
 * A watcher hears only of what it watches, and only from the session that its
 * watch lives on.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { ClientSession, ResourceWatcher } from "@toolcrib/tool";
import { type ChangeStream, createChangeStream } from "./change-stream.ts";
import type { Lease } from "./client-sessions.ts";
import type { UpstreamSession } from "./open-session.ts";
import { UpstreamError } from "./upstream-error.ts";

/** What the watch needs of its server. */
export interface ResourceWatchDeps {
  readonly serverId: string;
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Milliseconds, see `ChangeStreamDeps`. */
  readonly lingerMs: number;
  /** The session that a client's watches live on. */
  lease(client: ClientSession | undefined): Promise<Lease>;
  /** Takes list changes that a modern stream sends. */
  onNotification(method: string, params: JsonObject, session: UpstreamSession): void;
  /** A modern stream was away: any list may have changed. */
  onGap(): void;
  /** A modern stream ended, or could not be opened. */
  onFailure(session: UpstreamSession, error: unknown): void;
}

/** The watchers of one server's resources. */
export interface ResourceWatch {
  /** @throws {UpstreamError} `UPSTREAM_WATCH_REFUSED`; what asking the server throws */
  add(uri: string, watcher: ResourceWatcher): Promise<void>;
  remove(uri: string, watcher: ResourceWatcher): Promise<void>;
  /** A notification about resources that `session` sent. */
  notified(method: string, params: JsonObject, session: UpstreamSession): void;
  /** A new shared session is there: listen to it, and move what has no session any more to it. */
  restore(session: UpstreamSession): Promise<void>;
}

/** One watcher's interest in one URI. */
interface Watch {
  readonly uri: string;
  readonly watcher: ResourceWatcher;
  readonly forget: () => void;
  placed: Promise<void>;
  lease: Lease | undefined;
  isOver: boolean;
}

/** A URI on one session, subscribed while anyone watches it. */
interface Topic {
  readonly uri: string;
  readonly watches: Set<Watch>;
  isSubscribed: boolean;
  tail: Promise<unknown>;
}

/** What lives on one session. */
interface Place {
  readonly session: UpstreamSession;
  readonly topics: Map<string, Topic>;
  readonly stream: ChangeStream | undefined;
}

/** Most URIs watched at one server. */
const maxUris = 10_000;
const subscribeTimeoutMs = 30_000;
/** Watches that are moved at a time. */
const movedAtOnce = 32;

/** Create the table. */
export function createResourceWatch(deps: ResourceWatchDeps): ResourceWatch {
  const watches = new Map<string, Map<ResourceWatcher, Watch>>();
  const places = new Map<UpstreamSession, Place>();
  const log = { server: deps.serverId };

  function placeOf(session: UpstreamSession): Place {
    const known = places.get(session);
    if (known !== undefined) return known;
    const topics = new Map<string, Topic>();
    const { connection } = session;
    const stream =
      connection.era === "legacy"
        ? undefined
        : createChangeStream({
            connection,
            serverId: deps.serverId,
            random: deps.random,
            now: deps.now,
            logger: deps.logger,
            lingerMs: deps.lingerMs,
            uris: () => [...topics.values()].filter((topic) => topic.watches.size > 0).map(({ uri }) => uri),
            onNotification: (method, params) => {
              notified(method, params, session);
              deps.onNotification(method, params, session);
            },
            onFailure: (error) => deps.onFailure(session, error),
            onGap() {
              deps.onGap();
              for (const topic of topics.values()) tellAll(topic);
            },
          });
    const place = { session, topics, stream };
    places.set(session, place);
    connection.closed.addEventListener("abort", () => abandon(place), { once: true });
    return place;
  }

  function topicOf(place: Place, uri: string): Topic {
    const topic = place.topics.get(uri) ?? {
      uri,
      watches: new Set(),
      isSubscribed: false,
      tail: Promise.resolve(),
    };
    place.topics.set(uri, topic);
    return topic;
  }

  /** Bring the server's idea of a topic in line with ours; one step at a time for each topic. */
  function settle(place: Place, topic: Topic): Promise<void> {
    const step = topic.tail.then(async () => {
      const isWanted = topic.watches.size > 0;
      if (isWanted !== topic.isSubscribed && !place.session.connection.closed.aborted) {
        await subscribe(place, topic.uri, isWanted);
        topic.isSubscribed = isWanted;
      }
      if (topic.watches.size === 0 && !topic.isSubscribed && place.topics.get(topic.uri) === topic)
        place.topics.delete(topic.uri);
    });
    topic.tail = step.catch(() => {});
    return step;
  }

  async function subscribe(place: Place, uri: string, isWanted: boolean): Promise<void> {
    if (place.stream === undefined) {
      const method = isWanted ? "resources/subscribe" : "resources/unsubscribe";
      await place.session.connection.request(method, { uri }, { timeoutMs: subscribeTimeoutMs });
      return;
    }
    const honoured = await place.stream.settle();
    if (isWanted && !honoured.has(uri)) throw refused(`The server does not tell of changes of "${uri}"`);
  }

  function refused(message: string): UpstreamError {
    return new UpstreamError("UPSTREAM_WATCH_REFUSED", message, { data: { server: deps.serverId } });
  }

  async function put(watch: Watch): Promise<void> {
    const lease = await deps.lease(watch.watcher.session);
    if (watch.isOver || lease.session.connection.closed.aborted) {
      lease.release();
      if (!watch.isOver) throw refused("The session of the server ended meanwhile");
      return;
    }
    watch.lease = lease;
    const place = placeOf(lease.session);
    const topic = topicOf(place, watch.uri);
    topic.watches.add(watch);
    try {
      await settle(place, topic);
    } catch (error) {
      topic.watches.delete(watch);
      release(watch);
      throw error;
    }
  }

  function release(watch: Watch): void {
    watch.lease?.release();
    watch.lease = undefined;
  }

  /** The session of `place` ended: what lived on it is without a session now. */
  function abandon(place: Place): void {
    places.delete(place.session);
    const homeless = [...place.topics.values()].flatMap((topic) => [...topic.watches]);
    for (const watch of homeless) release(watch);
    // A client's own session can be opened again at once; the shared one is waited for.
    void move(homeless.filter(({ watcher }) => watcher.session !== undefined));
  }

  async function move(homeless: readonly Watch[]): Promise<void> {
    for (let start = 0; start < homeless.length; start += movedAtOnce) {
      await Promise.all(homeless.slice(start, start + movedAtOnce).map(moveOne));
    }
  }

  async function moveOne(watch: Watch): Promise<void> {
    if (watch.isOver || watch.lease !== undefined) return;
    let isMoved = false;
    watch.placed = watch.placed
      .catch(() => {})
      .then(async () => {
        if (watch.isOver || watch.lease !== undefined) return;
        await put(watch);
        isMoved = true;
      });
    try {
      await watch.placed;
      // What happened meanwhile nobody knows, so the watcher looks again.
      if (isMoved && !watch.isOver) watch.watcher.updated(watch.uri);
    } catch (error) {
      // A resource that is gone after a restart, or a server that is: tried again with the next session.
      deps.logger.debug({ ...log, uri: watch.uri, reason: messageOf(error) }, "resource is not watched");
    }
  }

  function tellAll(topic: Topic, uri = topic.uri): void {
    for (const { watcher, isOver } of [...topic.watches]) if (!isOver) watcher.updated(uri);
  }

  function notified(method: string, params: JsonObject, session: UpstreamSession): void {
    const { uri } = params;
    if (method !== "notifications/resources/updated" || typeof uri !== "string") return;
    for (const topic of places.get(session)?.topics.values() ?? [])
      if (isWithin(uri, topic.uri)) tellAll(topic, uri);
  }

  async function add(uri: string, watcher: ResourceWatcher): Promise<void> {
    const known = watches.get(uri)?.get(watcher);
    if (known !== undefined) return known.placed;
    if (watches.size >= maxUris && !watches.has(uri)) {
      throw refused(`More than ${maxUris} resources are watched`);
    }
    const client = watcher.session;
    const closed = () => void remove(uri, watcher).catch(() => {});
    client?.closed.throwIfAborted();
    client?.closed.addEventListener("abort", closed, { once: true });
    const watch: Watch = {
      uri,
      watcher,
      forget: () => client?.closed.removeEventListener("abort", closed),
      placed: Promise.resolve(),
      lease: undefined,
      isOver: false,
    };
    watches.set(uri, (watches.get(uri) ?? new Map<ResourceWatcher, Watch>()).set(watcher, watch));
    watch.placed = put(watch);
    try {
      await watch.placed;
    } catch (error) {
      unlist(watch);
      throw error;
    }
  }

  async function remove(uri: string, watcher: ResourceWatcher): Promise<void> {
    const watch = watches.get(uri)?.get(watcher);
    if (watch === undefined) return;
    unlist(watch);
    // A watch that is just being placed sees that it is over.
    await watch.placed.catch(() => {});
    const place = watch.lease === undefined ? undefined : places.get(watch.lease.session);
    const topic = place?.topics.get(uri);
    topic?.watches.delete(watch);
    try {
      if (place !== undefined && topic !== undefined) await settle(place, topic);
    } finally {
      release(watch);
    }
  }

  function unlist(watch: Watch): void {
    watch.isOver = true;
    watch.forget();
    const known = watches.get(watch.uri);
    known?.delete(watch.watcher);
    if (known?.size === 0) watches.delete(watch.uri);
  }

  return {
    add,
    remove,
    notified,
    async restore(session) {
      placeOf(session).stream?.start();
      const all = [...watches.values()].flatMap((known) => [...known.values()]);
      await move(all.filter(({ lease }) => lease === undefined));
    },
  };
}

/** Whether `uri` is `watched` or a part of it: servers may name the part that changed (2025-11-25, resources). */
function isWithin(uri: string, watched: string): boolean {
  return uri === watched || uri.startsWith(watched.endsWith("/") ? watched : `${watched}/`);
}
