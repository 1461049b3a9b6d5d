/**
 * The watched resources of one session. A legacy session gets a
 * `resources/subscribe` for the first watch of a URI and an unsubscribe after
 * the last one; a modern session has one stream for all of them.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ResourceWatcher } from "@toolcrib/tool";
import { ChangeStream, type ChangeStreamDeps } from "./change-stream.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** A watch of one URI, as far as its session has to know it. */
export interface SessionWatch {
  readonly uri: string;
  readonly watcher: ResourceWatcher;
  readonly isOver: boolean;
}

/** A watched URI of the session. It is subscribed while it has a watch. */
interface Topic<Watch> {
  readonly uri: string;
  readonly watches: Set<Watch>;
  isSubscribed: boolean;
  /** The last change of the subscription; never rejects. */
  tail: Promise<unknown>;
}

/** Dependencies of `SessionTopics`. */
export interface SessionTopicsDeps
  extends Omit<ChangeStreamDeps, "connection" | "uris" | "onFailure" | "onNotification"> {
  /** Gets the list changes that a modern stream reports. */
  readonly onNotification: (method: string, params: JsonObject, session: UpstreamSession) => void;
  /** Reports that a modern stream ended or could not be opened. */
  readonly onFailure: (session: UpstreamSession, error: unknown) => void;
  /** Creates the error for a URI whose changes the server does not report. */
  readonly notReported: (uri: string) => Error;
}

/** Milliseconds for one request that subscribes to a resource, or ends its subscription. @limit server */
const subscribeTimeoutMs = 30_000;

/** The watched URIs of one session. */
export class SessionTopics<Watch extends SessionWatch> {
  readonly session: UpstreamSession;
  readonly #deps: SessionTopicsDeps;
  readonly #topics = new Map<string, Topic<Watch>>();
  readonly #stream: ChangeStream | undefined;

  constructor(session: UpstreamSession, deps: SessionTopicsDeps) {
    const { connection } = session;
    this.session = session;
    this.#deps = deps;
    if (connection.era === "legacy") return;
    this.#stream = new ChangeStream({
      ...deps,
      connection,
      uris: () => this.#watchedUris(),
      onNotification: (method, params) => {
        this.notified(method, params);
        deps.onNotification(method, params, session);
      },
      onFailure: (error) => deps.onFailure(session, error),
      onGap: () => {
        deps.onGap();
        this.missed();
      },
    });
  }

  /** Opens the stream of a modern session. */
  start(): void {
    this.#stream?.start();
  }

  /** Returns the watches of all URIs. */
  watches(): Watch[] {
    return [...this.#topics.values()].flatMap((topic) => [...topic.watches]);
  }

  /** Adds a watch, and subscribes to its URI if it is the first. @throws what the server answers; the watch is not added then */
  async add(watch: Watch): Promise<void> {
    const topic = this.#topicOf(watch.uri);
    topic.watches.add(watch);
    try {
      await this.#settle(topic);
    } catch (error) {
      topic.watches.delete(watch);
      this.#forgetUnused(topic);
      throw error;
    }
  }

  /** Removes a watch, and ends the subscription of its URI if it was the last. @throws what the server answers */
  async remove(watch: Watch): Promise<void> {
    const topic = this.#topics.get(watch.uri);
    if (topic === undefined) return;
    topic.watches.delete(watch);
    await this.#settle(topic);
  }

  /** Passes a notification of this session on to the watchers of the resource. */
  notified(method: string, params: JsonObject): void {
    const { uri } = params;
    if (method !== "notifications/resources/updated" || typeof uri !== "string") return;
    for (const topic of this.#topics.values()) if (isWithin(uri, topic.uri)) emitUpdated(topic, uri);
  }

  /** Notifies all watchers: changes can have been lost. */
  missed(): void {
    for (const topic of this.#topics.values()) emitUpdated(topic, topic.uri);
  }

  #watchedUris(): readonly string[] {
    return [...this.#topics.values()].filter(({ watches }) => watches.size > 0).map(({ uri }) => uri);
  }

  #topicOf(uri: string): Topic<Watch> {
    let topic = this.#topics.get(uri);
    if (topic === undefined) {
      topic = { uri, watches: new Set(), isSubscribed: false, tail: Promise.resolve() };
      this.#topics.set(uri, topic);
    }
    return topic;
  }

  /** Subscribes to a URI or ends its subscription, as its watches require; one step at a time for each URI. */
  #settle(topic: Topic<Watch>): Promise<void> {
    const step = topic.tail.then(async () => {
      const isWanted = topic.watches.size > 0;
      if (isWanted === topic.isSubscribed || this.session.connection.closed.aborted) return;
      await this.#subscribe(topic.uri, isWanted);
      topic.isSubscribed = isWanted;
    });
    topic.tail = step.then(
      () => this.#forgetUnused(topic),
      () => this.#forgetUnused(topic),
    );
    return step;
  }

  /** Also after a refusal: a client can name URIs without end. */
  #forgetUnused(topic: Topic<Watch>): void {
    const isUnused = topic.watches.size === 0 && !topic.isSubscribed;
    if (isUnused && this.#topics.get(topic.uri) === topic) this.#topics.delete(topic.uri);
  }

  async #subscribe(uri: string, isWanted: boolean): Promise<void> {
    if (this.#stream === undefined) {
      const method = isWanted ? "resources/subscribe" : "resources/unsubscribe";
      await this.session.connection.request(method, { uri }, { timeoutMs: subscribeTimeoutMs });
      return;
    }
    const honoured = await this.#stream.settle();
    if (isWanted && !honoured.has(uri)) throw this.#deps.notReported(uri);
  }
}

function emitUpdated(topic: Topic<SessionWatch>, uri: string): void {
  for (const { watcher, isOver } of [...topic.watches]) if (!isOver) watcher.updated(uri);
}

/** Whether `uri` is `watched` or a part of it: servers can name the part that changed (2025-11-25, resources). */
function isWithin(uri: string, watched: string): boolean {
  return uri === watched || uri.startsWith(watched.endsWith("/") ? watched : `${watched}/`);
}
