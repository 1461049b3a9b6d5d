/**
 * Who watches which resource of a server. Legacy sessions get a
 * `resources/subscribe` for the first watcher of a URI and an unsubscribe after
 * the last; on a modern connection one `subscriptions/listen` stream carries
 * the list changes and all watched URIs, and is reopened when they change.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { McpError, mcpCancelled } from "@toolcrib/mcp";
import type { ResourceWatcher } from "@toolcrib/tool";
import type { UpstreamSession } from "./open-session.ts";
import type { UpstreamLogger } from "./upstream-options.ts";

/** What the watch needs of its server. */
export interface ResourceWatchDeps {
  /** The session that a watcher's subscription lives on. */
  sessionFor(watcher: ResourceWatcher): Promise<UpstreamSession>;
  /** The shared session, if there is one. */
  shared(): UpstreamSession | undefined;
  /** Takes what a modern stream sends. */
  onNotification(method: string, params: JsonObject): void;
  readonly logger: UpstreamLogger;
  readonly serverId: string;
}

/** The watchers of one server's resources. */
export interface ResourceWatch {
  add(uri: string, watcher: ResourceWatcher): Promise<void>;
  remove(uri: string, watcher: ResourceWatcher): Promise<void>;
  /** The server says that `uri` changed. */
  updated(uri: string): void;
  /** A new shared session is there: subscribe again. */
  restore(): Promise<void>;
}

/** Most URIs watched at one server. */
const maxUris = 10_000;
const subscribeTimeoutMs = 30_000;

/** Create the table. */
export function createResourceWatch(deps: ResourceWatchDeps): ResourceWatch {
  const watchers = new Map<string, Map<ResourceWatcher, UpstreamSession>>();
  let stream: AbortController | undefined;

  async function subscribe(session: UpstreamSession, method: string, uri: string): Promise<void> {
    if (session.connection.era === "modern") listen(session);
    else await session.connection.request(method, { uri }, { timeoutMs: subscribeTimeoutMs });
  }

  /** (Re)open the one stream of a modern connection. */
  function listen(session: UpstreamSession): void {
    const { connection } = session;
    stream?.abort(new McpError(mcpCancelled, "The watched resources changed"));
    const controller = new AbortController();
    stream = controller;
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [...watchers.keys()],
    };
    void connection
      .request(
        "subscriptions/listen",
        { notifications },
        {
          signal: controller.signal,
          onNotification: (method, params) => deps.onNotification(method, params),
        },
      )
      .then(
        () => "the server ended the stream",
        (error: unknown) => messageOf(error),
      )
      .then((reason) => {
        if (controller.signal.aborted || connection.closed.aborted) return;
        deps.logger.debug({ server: deps.serverId, reason }, "stream of changes ended");
        // Servers may end streams at will; a pause keeps this from spinning.
        const timer = setTimeout(() => {
          if (stream === controller && !connection.closed.aborted) listen(session);
        }, 5000);
        timer.unref();
      });
  }

  return {
    async add(uri, watcher) {
      const known = watchers.get(uri) ?? new Map<ResourceWatcher, UpstreamSession>();
      if (known.has(watcher)) return;
      if (watchers.size >= maxUris)
        throw new McpError(mcpCancelled, `More than ${maxUris} resources are watched`);
      const session = await deps.sessionFor(watcher);
      const isFirst = ![...known.values()].includes(session);
      known.set(watcher, session);
      watchers.set(uri, known);
      if (isFirst) await subscribe(session, "resources/subscribe", uri);
    },
    async remove(uri, watcher) {
      const known = watchers.get(uri);
      const session = known?.get(watcher);
      if (known === undefined || session === undefined) return;
      known.delete(watcher);
      if (known.size === 0) watchers.delete(uri);
      const isLast = ![...known.values()].includes(session);
      if (isLast && !session.connection.closed.aborted)
        await subscribe(session, "resources/unsubscribe", uri);
    },
    updated(uri) {
      for (const watcher of watchers.get(uri)?.keys() ?? []) watcher.updated(uri);
    },
    async restore() {
      const session = deps.shared();
      if (session === undefined) return;
      if (session.connection.era === "modern") {
        listen(session);
        return;
      }
      for (const [uri, known] of watchers) {
        let isSubscribed = false;
        for (const [watcher, old] of known) {
          if (!old.connection.closed.aborted) continue;
          known.set(watcher, session);
          if (isSubscribed) continue;
          isSubscribed = true;
          // A resource that is gone after a restart is no reason to fail the connection.
          await subscribe(session, "resources/subscribe", uri).catch((error: unknown) => {
            deps.logger.warn(
              { server: deps.serverId, uri, reason: messageOf(error) },
              "resource can no longer be watched",
            );
          });
        }
      }
    },
  };
}
