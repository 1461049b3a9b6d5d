/**
 * Who is told of updates of which resources: legacy sessions that subscribe one
 * URI at a time, and modern streams that name all of theirs at once. Each is
 * told by the server that it was subscribed at, and leaves nothing behind at
 * its end, whenever that comes.
 */

import { type Listener, McpError, type ServerSession } from "@toolcrib/mcp";
import type { ResourceWatcher } from "@toolcrib/tool";
import type { FeatureSource } from "./feature-routes.ts";

/** The subscriptions of all clients. */
export interface Subscriptions {
  /** Tell `session` of updates of `uri`, which `source` answers for. @throws {CodedError} what the server says */
  add(session: ServerSession, source: FeatureSource, uri: string): Promise<void>;
  /** Tell it no more. */
  remove(session: ServerSession, uri: string): Promise<void>;
  /** The session is over. */
  end(session: ServerSession): void;
  /** Tell `listener` of updates of `uris` until it closes. @returns those that can be watched */
  listen(listener: Listener, uris: readonly string[]): Promise<string[]>;
}

interface Subscription {
  readonly source: FeatureSource;
  readonly watcher: ResourceWatcher;
  /** Settles when the server has answered. */
  readonly ready: Promise<void>;
}

/** Most resources that one client watches. */
const maxUris = 1000;

/** Create an empty table. @param sourceOf the source that answers for a URI */
export function createSubscriptions(
  sourceOf: (listener: Listener, uri: string) => FeatureSource | undefined,
): Subscriptions {
  const sessions = new Map<ServerSession, Map<string, Subscription>>();

  async function stop({ source, watcher, ready }: Subscription, uri: string): Promise<void> {
    // What is not there yet cannot be taken back.
    await ready.catch(() => {});
    await source.features.unwatch(uri, watcher);
  }

  /** Nobody waits: a server that cannot be told forgets with its own session. */
  function stopAlone(subscription: Subscription, uri: string): void {
    stop(subscription, uri).catch(() => {});
  }

  return {
    async add(session, source, uri) {
      if (session.closed.aborted) return;
      const ofSession = sessions.get(session) ?? new Map<string, Subscription>();
      sessions.set(session, ofSession);
      const known = ofSession.get(uri);
      if (known !== undefined) return known.ready;
      if (ofSession.size >= maxUris) throw tooMany();
      const watcher: ResourceWatcher = {
        session,
        updated: (changed) => session.notify("notifications/resources/updated", { uri: changed }),
      };
      const subscription = { source, watcher, ready: source.features.watch(uri, watcher) };
      ofSession.set(uri, subscription);
      try {
        await subscription.ready;
      } catch (error) {
        if (ofSession.get(uri) === subscription) ofSession.delete(uri);
        throw error;
      }
    },
    async remove(session, uri) {
      const known = sessions.get(session)?.get(uri);
      if (known === undefined) return;
      sessions.get(session)?.delete(uri);
      await stop(known, uri);
    },
    end(session) {
      const ofSession = sessions.get(session) ?? [];
      sessions.delete(session);
      for (const [uri, subscription] of ofSession) stopAlone(subscription, uri);
    },
    async listen(listener, uris) {
      const watch = async (uri: string): Promise<boolean> => {
        const source = sourceOf(listener, uri);
        if (source === undefined || listener.closed.aborted) return false;
        const watcher: ResourceWatcher = {
          updated: (changed) => listener.notify("notifications/resources/updated", { uri: changed }),
        };
        const subscription = { source, watcher, ready: source.features.watch(uri, watcher) };
        listener.closed.addEventListener("abort", () => stopAlone(subscription, uri), { once: true });
        // Resources that cannot be watched are left out of the acknowledgment.
        return subscription.ready.then(
          () => true,
          () => false,
        );
      };
      const wanted = [...new Set(uris.slice(0, maxUris))];
      const isWatched = await Promise.all(wanted.map(watch));
      return wanted.filter((_uri, at) => isWatched[at]);
    },
  };
}

function tooMany(): McpError {
  return new McpError("MCP_OVERLOADED", `More than ${maxUris} resources are watched by this client`, {
    hint: "unsubscribe from some first",
  });
}
