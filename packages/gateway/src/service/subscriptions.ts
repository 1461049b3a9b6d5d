/**
 * Subscriptions of clients to updates of resources: legacy sessions subscribe
 * one URI at a time, modern streams name all of their URIs at once. Updates come
 * from the server at which the subscription was made. The end of a session or
 * stream ends its subscriptions. Those of a session that continues one of an
 * earlier run are made again, each as a call that the policy decides about anew.
 */

import { type FeatureSource, featureSubject } from "@toolcrib/inventory";
import { FairShare } from "@toolcrib/lifecycle";
import { type Listener, McpError, type ServerSession } from "@toolcrib/mcp";
import { ResourceUpdates, restoreEach } from "@toolcrib/sessions";
import { type Identity, identityKey, type ResourceWatcher } from "@toolcrib/tool";
import { currentFeature } from "../call/current-feature.ts";

interface Subscription {
  readonly source: FeatureSource;
  readonly watcher: ResourceWatcher;
  /** Settles when the server has answered. */
  readonly ready: Promise<void>;
  /** Calls that want it and were not cancelled before the server answered. */
  wanted: number;
  /** Gives its part of the limit back; it is called once. */
  readonly free: () => void;
}

/** Makes a subscription. @param signal ends it where its call ends first */
export type Subscribe = (signal: AbortSignal) => Promise<void>;

/** A session or stream that gets updates. */
type Client = Pick<Listener, "identity" | "closed" | "notify">;
/** A session or stream that subscribes. */
type Subscriber = Pick<Listener, "identity" | "closed" | "view">;

/** Limits of what clients watch. */
interface SubscriptionLimits {
  /** Resources that one session or stream watches. @default 1,000 */
  readonly maxUris: number;
  /** Characters of the URIs that all clients watch, and 1,024 for each URI; one client gets at most half of them. @default 16,777,216 */
  readonly totalMaxLength: number;
}

const { maxUris, totalMaxLength }: SubscriptionLimits = { maxUris: 1000, totalMaxLength: 16_777_216 };
const refusals = {
  full: "All clients together watch as many resources as they can",
  share: "This client watches as many resources as its share allows",
};
/** Subscriptions of one stream that are made at a time. */
const watchedTogether = 16;

/** Dependencies of subscriptions. */
export interface SubscriptionsDeps {
  /** Returns the source that answers for a URI. */
  readonly sourceOf: (subscriber: Subscriber, uri: string) => FeatureSource | undefined;
  /** Runs `subscribe` as a governed call of the client of `subscriber`. Rejects when it was denied or failed. */
  readonly governed: (
    subscriber: Subscriber,
    source: FeatureSource,
    uri: string,
    subscribe: Subscribe,
  ) => Promise<void>;
  /** Whether a client may use a resource of `source` now: policies can be replaced while it is watched. */
  readonly isAllowed: (identity: Identity, source: FeatureSource, uri: string) => boolean;
  /** Removes known secrets from a URI that a server sent. */
  readonly scrub: (uri: string) => string;
  /** Counts a message to a client. @returns whether it may be sent now */
  readonly allows: (identity: Identity) => boolean;
}

/** The subscriptions of all clients. */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  readonly #shares = new FairShare(totalMaxLength);
  readonly #updates = new WeakMap<Client, ResourceUpdates>();
  readonly #sessions = new Map<ServerSession, Map<string, Subscription>>();
  /** Subscriptions of streams. */
  readonly #watches = new Set<{
    readonly listener: Listener;
    readonly uri: string;
    readonly made: Subscription;
  }>();

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
  }

  /**
   * Notifies `session` of updates of `uri` from `source`.
   *
   * @param signal ends the subscription at once where its calls are cancelled before the server has answered
   * @throws {CodedError} the error of the server
   */
  async add(session: ServerSession, source: FeatureSource, uri: string, signal: AbortSignal): Promise<void> {
    if (session.closed.aborted) return;
    const ofSession = this.#sessions.get(session) ?? new Map<string, Subscription>();
    this.#sessions.set(session, ofSession);
    const known = ofSession.get(uri);
    if (known === undefined && ofSession.size >= maxUris)
      throw tooManyError(`More than ${maxUris} resources are watched`);
    const subscription =
      known ??
      this.#subscribe(session.identity, source, uri, {
        session,
        updated: (changed) => this.#updated(session, source, { changed, watched: uri }),
      });
    ofSession.set(uri, subscription);
    subscription.wanted += 1;
    const isForgotten = () => ofSession.get(uri) === subscription && ofSession.delete(uri);
    const cancel = () => {
      subscription.wanted -= 1;
      if (subscription.wanted === 0 && isForgotten()) unsubscribeLater(subscription, uri);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await subscription.ready;
    } catch (error) {
      if (isForgotten()) subscription.free();
      throw error;
    }
  }

  /** Ends the subscription of `session` to `uri`. */
  async remove(session: ServerSession, uri: string): Promise<void> {
    const known = this.#sessions.get(session)?.get(uri);
    if (known === undefined) return;
    this.#sessions.get(session)?.delete(uri);
    await unsubscribe(known, uri);
  }

  /** Ends all subscriptions of a session that ended. */
  end(session: ServerSession): void {
    const ofSession = this.#sessions.get(session) ?? [];
    this.#sessions.delete(session);
    for (const [uri, subscription] of ofSession) unsubscribeLater(subscription, uri);
  }

  /** Makes the subscriptions of an earlier run again, as far as they are possible within a minute. Never rejects. */
  restore(session: ServerSession, uris: readonly string[]): Promise<void> {
    return restoreEach(uris.slice(0, maxUris), session.closed, (uri) => this.#restoreOne(session, uri));
  }

  /** Makes those at sources that have left again, at the sources that answer for their URIs now. */
  renew(isThere: (source: FeatureSource) => boolean): void {
    for (const [session, ofSession] of this.#sessions) {
      const lost = [...ofSession].filter(([, { source }]) => !isThere(source));
      for (const [uri, subscription] of lost) {
        ofSession.delete(uri);
        unsubscribeLater(subscription, uri);
      }
      void this.restore(
        session,
        lost.map(([uri]) => uri),
      );
    }
    for (const watch of [...this.#watches].filter(({ made }) => !isThere(made.source))) {
      const { listener, uri, made } = watch;
      this.#watches.delete(watch);
      unsubscribeLater(made, uri);
      void restoreEach([uri], listener.closed, (one) => this.#watch(listener, one));
    }
  }

  async #restoreOne(session: ServerSession, uri: string): Promise<boolean> {
    const source = this.#deps.sourceOf(session, uri);
    if (source === undefined || session.closed.aborted) return false;
    try {
      await this.#deps.governed(session, source, uri, (signal) => this.add(session, source, uri, signal));
    } catch {
      return false;
    }
    // Changes between the two runs were not reported, so the client reads the resource again.
    this.#updated(session, source, { changed: uri, watched: uri });
    return true;
  }

  /** Notifies `listener` of updates of `uris` until it closes. @returns those that can be watched */
  async listen(listener: Listener, uris: readonly string[]): Promise<string[]> {
    const wanted = [...new Set(uris.slice(0, maxUris))];
    const watched: string[] = [];
    // Each is a call of the client, which must not use up its share of the calls in flight.
    for (let at = 0; at < wanted.length; at += watchedTogether) {
      const some = wanted.slice(at, at + watchedTogether);
      const isWatched = await Promise.all(some.map((uri) => this.#watch(listener, uri)));
      watched.push(...some.filter((_uri, index) => isWatched[index]));
    }
    return watched;
  }

  /** Notifies `client` that `changed`, which is `watched` or a part of it, changed, if it may use both. */
  #updated(
    client: Client,
    source: FeatureSource,
    { changed, watched }: { readonly changed: string; readonly watched: string },
  ): void {
    const { isAllowed, scrub } = this.#deps;
    if (!isAllowed(client.identity, source, watched)) return;
    if (changed !== watched && !isAllowed(client.identity, source, changed)) return;
    this.#updatesOf(client).add(changed === watched ? watched : scrub(changed), watched);
  }

  #updatesOf(client: Client): ResourceUpdates {
    const known = this.#updates.get(client);
    if (known !== undefined) return known;
    const updates = new ResourceUpdates({
      send: (uri) => client.notify("notifications/resources/updated", { uri }),
      allows: () => this.#deps.allows(client.identity),
      closed: client.closed,
    });
    this.#updates.set(client, updates);
    return updates;
  }

  async #watch(listener: Listener, uri: string): Promise<boolean> {
    const source = this.#deps.sourceOf(listener, uri);
    if (source === undefined || listener.closed.aborted) return false;
    const watching = this.#deps.governed(listener, source, uri, async (signal) => {
      const subscription = this.#subscribe(listener.identity, source, uri, {
        updated: (changed) => this.#updated(listener, source, { changed, watched: uri }),
      });
      const watch = { listener, uri, made: subscription };
      this.#watches.add(watch);
      const end = () => {
        if (this.#watches.delete(watch)) unsubscribeLater(subscription, uri);
      };
      const ends = [listener.closed, signal];
      for (const one of ends) one.addEventListener("abort", end, { once: true });
      await subscription.ready.catch((error: unknown) => {
        // The stream can stay open for long.
        for (const one of ends) one.removeEventListener("abort", end);
        if (this.#watches.delete(watch)) subscription.free();
        throw error;
      });
    });
    // Resources that cannot be watched are left out of the acknowledgment.
    return watching.then(
      () => true,
      () => false,
    );
  }

  #subscribe(
    identity: Identity,
    source: FeatureSource,
    uri: string,
    watching: ResourceWatcher,
  ): Subscription {
    const holder = identityKey(identity);
    const refusal = this.#shares.refusalFor(holder);
    if (refusal !== undefined) throw tooManyError(refusals[refusal]);
    const { wireName } = featureSubject(source, "resources", uri);
    const era = watching.session === undefined ? "modern" : "legacy";
    const check = () => currentFeature(source, "resources", uri, wireName);
    // On a later session, the resource is to be offered; its definition can be another one by then.
    let first: ReturnType<typeof check> | undefined = check();
    const beforeSend = () => {
      (first ?? check())(era);
      first = undefined;
    };
    const watcher = { ...watching, holder, beforeSend };
    const ready = source.features.watch(uri, watcher);
    const length = uri.length + 1024;
    this.#shares.take(holder, length);
    return { source, watcher, ready, wanted: 0, free: () => this.#shares.giveBack(holder, length) };
  }
}

async function unsubscribe({ source, watcher, free }: Subscription, uri: string): Promise<void> {
  free();
  await source.features.unwatch(uri, watcher);
}

/** Does not wait: a server that cannot be reached forgets the subscription with its own session. */
function unsubscribeLater(subscription: Subscription, uri: string): void {
  unsubscribe(subscription, uri).catch(() => {});
}

function tooManyError(message: string): McpError {
  return new McpError("MCP_OVERLOADED", message, { hint: "unsubscribe from some first" });
}
