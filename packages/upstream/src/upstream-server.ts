/**
 * An upstream MCP server as a tool source. It connects, lists, and stays
 * connected: a server that ends or breaks is tried again with growing pauses,
 * and what it listed stays known meanwhile, so that one bad server never
 * disturbs the others or the names that clients know.
 *
 * It never repeats a request that the server may have begun.
 */

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import type {
  CallContext,
  ClientSession,
  Health,
  SourceChange,
  SourceFeatures,
  ToolResult,
  ToolSource,
} from "@toolcrib/tool";
import {
  createClientSessions,
  type Lease,
  needsOwnSession,
  passedOnCapabilities,
} from "./client-sessions.ts";
import { openSession, type SessionOptions, type UpstreamSession } from "./open-session.ts";
import { createResourceWatch } from "./resource-watch.ts";
import { createCatalogue, listKinds } from "./server-catalogue.ts";
import { createSharedLink } from "./shared-link.ts";
import { createStderrTail } from "./stderr-tail.ts";
import { isExpired, isRefused, reasonOf, toCallerError } from "./upstream-failure.ts";
import {
  resolveUpstreamLimits,
  type UpstreamDeps,
  type UpstreamLimits,
  type UpstreamSettings,
} from "./upstream-options.ts";
import { untilClosed } from "./wait.ts";

/** An upstream server, and what people want to know of it. */
export interface UpstreamServer extends ToolSource {
  readonly features: SourceFeatures;
  /** Facts of the connection; fields are absent while there is none. */
  facts(): {
    readonly protocolVersion?: string;
    readonly serverInfo?: JsonObject;
    readonly pid?: number;
    /** Connections made after the first. */
    readonly restarts: number;
    /** Clients with a session of their own. */
    readonly clientSessions: number;
  };
  /** Last lines of its standard error (stdio), those of its last end included. */
  stderrTail(lineCount: number): readonly string[];
}

/** What the shared session declares: everything that can be passed on, so that a server lists all it has. */
const sharedCapabilities: JsonObject = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

/** Create the source; nothing is started before `start`. */
export function createUpstreamServer(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  givenLimits: UpstreamLimits = {},
): UpstreamServer {
  const limits = resolveUpstreamLimits(givenLimits);
  const { id, scrub = (text: string) => text } = settings;
  const { logger, now, random } = deps;
  const log = { server: id };
  const listeners = new Set<(change: SourceChange) => void>();
  const stderr = createStderrTail();
  let health: Health = { state: "starting", since: now() };
  let capabilities: JsonObject = {};
  let instructions: string | undefined;
  let disposing: Promise<void> | undefined;

  const link = createSharedLink(
    {
      serverId: id,
      now,
      random,
      open: (era, signal) =>
        open({ capabilities: sharedCapabilities, owner: undefined, era, signal, onProcess: stderr.follow }),
      async prepare(session, signal) {
        const putListsInPlace = await catalogue.read(session, signal);
        return () => {
          ({ capabilities, instructions } = session.connection);
          putListsInPlace();
          ready(session);
          void watch.restore(session);
        };
      },
      down(reason, attempt, willRetry) {
        const text = scrub(reason);
        // A server that stays down for one reason is told about once; the rest is for who looks closely.
        const isNews = withoutTimes(health.reason ?? "") !== withoutTimes(text) || !willRetry;
        logger[isNews ? "warn" : "debug"]({ ...log, attempt, reason: text }, "server is not available");
        setHealth(willRetry ? "unavailable" : "stopped", text);
      },
    },
    limits,
  );
  const catalogue = createCatalogue({
    settings,
    limits,
    logger,
    now,
    session: () => link.session,
    stopped: link.stopped,
    changed: emit,
  });
  const clients = createClientSessions(
    {
      serverId: id,
      now,
      random,
      open: (client) =>
        open({
          capabilities: passedOnCapabilities(client),
          owner: client,
          era: "legacy",
          signal: link.stopped,
        }),
    },
    limits,
  );
  const watch = createResourceWatch({
    serverId: id,
    random,
    now,
    logger,
    lingerMs: settings.kind === "streamable_http" ? 10 : 0,
    lease: (client) => lease(client, link.stopped),
    onNotification: notified,
    onGap: () => listKinds.forEach(catalogue.announced),
    onFailure(session, error) {
      if (isRefused(error) && session === link.session) link.renew(session, reasonOf(error), "after a pause");
    },
  });

  function open(options: Omit<SessionOptions, "timeoutMs" | "onNotification">): Promise<UpstreamSession> {
    const { handshakeTimeoutMs: timeoutMs } = limits;
    return openSession(settings, deps, {
      ...options,
      timeoutMs,
      onNotification(method, params, session) {
        notified(method, params);
        if (session !== undefined) watch.notified(method, params, session);
      },
    });
  }

  function notified(method: string, _params: JsonObject): void {
    const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
    if (kind !== undefined) catalogue.announced(kind);
  }

  function emit(kind: SourceChange["kind"]): void {
    for (const listener of [...listeners]) {
      try {
        listener({ kind });
      } catch (error) {
        // What one listener does wrong is neither the server's failure nor the other listeners'.
        logger.error({ ...log, kind, err: error }, "a listener of the server's changes failed");
      }
    }
  }

  function setHealth(state: Health["state"], reason?: string): void {
    if (health.state === "stopped" || (health.state === state && health.reason === reason)) return;
    health = reason === undefined ? { state, since: now() } : { state, reason, since: now() };
    emit("health");
  }

  function ready({ connection }: UpstreamSession): void {
    const { era, protocolVersion } = connection;
    const { length } = catalogue.lists.tools;
    logger.info({ ...log, era, protocolVersion, tools: length }, "server is ready");
    setHealth("ready");
  }

  /** The session that calls of `client` run on. */
  async function lease(client: ClientSession | undefined, signal: AbortSignal): Promise<Lease> {
    // A way that the embedding program made is one way, whoever comes.
    const mayHaveOwn = settings.kind !== "custom" && needsOwnSession(client);
    if (mayHaveOwn && clients.has(client)) return clients.lease(client, signal);
    const session = await link.get(signal);
    // Modern requests carry the capabilities of their client with them, and no server asks back.
    if (mayHaveOwn && session.connection.era === "legacy") return clients.lease(client, signal);
    return { session, release() {} };
  }

  async function request(
    method: string,
    params: JsonObject,
    context: CallContext,
    options?: { readonly inputSchema?: JsonObject },
  ): Promise<JsonObject> {
    for (let attempt = 1; ; attempt += 1) {
      const client = context.session;
      const shared = needsOwnSession(client) ? undefined : link.session;
      const held = shared === undefined ? await lease(client, context.signal) : undefined;
      const session = held?.session ?? (shared as UpstreamSession);
      try {
        const result = await session.request(method, params, context, options);
        return method === "tools/call" ? withContent(result) : result;
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        const mayRepeat = await isWorthRepeating(session, error, context.signal);
        context.signal.throwIfAborted();
        if (attempt > 1 || !mayRepeat) throw toCallerError(id, error, disposing !== undefined);
      } finally {
        held?.release();
      }
    }
  }

  /** Whether the server never looked at the request, and a new session may do better; ends the old one then. */
  async function isWorthRepeating(
    session: UpstreamSession,
    error: unknown,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isGone = isRefused(error);
    if (isExpired(error)) {
      // Others of its requests may still be on their way; a new one is made when they are answered.
      await untilClosed(session.connection.closed, signal);
      return true;
    }
    if (!isGone && !(await isSecretReplaced(session, error))) return false;
    if (session !== link.session) await session[Symbol.asyncDispose]();
    // Where nothing listens, nothing listens for the others either.
    if (link.session !== undefined && (isGone || session === link.session)) {
      link.renew(link.session, reasonOf(error), isGone ? "after a pause" : "at once");
    }
    return true;
  }

  /** Whether the server refuses credentials that are not the current ones any more. */
  async function isSecretReplaced({ resolved }: UpstreamSession, error: unknown): Promise<boolean> {
    const isRefusal =
      error instanceof McpError && error.code === "MCP_UNAUTHORIZED" && error.data?.["status"] === 401;
    if (!isRefusal || resolved.kind === "custom") return false;
    // When they cannot be read, the server's refusal is all there is to tell.
    const current = await settings.resolveTransport().catch(() => resolved);
    return !isDeepStrictEqual(current, resolved);
  }

  async function dispose(): Promise<void> {
    setHealth("stopped");
    await Promise.allSettled([link[Symbol.asyncDispose](), clients[Symbol.asyncDispose]()]);
  }

  const server: UpstreamServer = {
    id,
    origin: "server",
    features: {
      capabilities: () => capabilities,
      instructions: () => instructions,
      resources: () => catalogue.lists.resources,
      resourceTemplates: () => catalogue.lists.resourceTemplates,
      prompts: () => catalogue.lists.prompts,
      request: (method, params, context) => request(method, params, context),
      watch: (uri, watcher) => asCaller(watch.add(uri, watcher)),
      unwatch: (uri, watcher) => asCaller(watch.remove(uri, watcher)),
    },
    async start(signal) {
      const stop = () => void server[Symbol.asyncDispose]();
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      await link.start();
      signal.removeEventListener("abort", stop);
    },
    tools: () => catalogue.lists.tools,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    call({ definition }, args, context) {
      const { name, inputSchema } = definition;
      const result = request("tools/call", { name, arguments: args }, context, { inputSchema });
      return result as Promise<unknown> as Promise<ToolResult>;
    },
    health: () => health,
    facts: () => ({
      protocolVersion: link.session?.connection.protocolVersion,
      serverInfo: link.session?.connection.serverInfo,
      pid: link.session?.process?.pid,
      restarts: Math.max(0, link.connections - 1),
      clientSessions: clients.size,
    }),
    stderrTail: (lineCount) => stderr.tail(lineCount),
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
  return server;

  async function asCaller(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw toCallerError(id, error, disposing !== undefined);
    }
  }
}

/** Results of old servers may lack `content`, which readers count on. */
function withContent(result: JsonObject): JsonObject {
  return Array.isArray(result["content"]) ? result : { ...result, content: [] };
}

/** A reason without how long something took, which differs from one attempt to the next. */
function withoutTimes(reason: string): string {
  return reason.replace(/\d+(?:\.\d+)? (?:ms|s|min)\b/g, "");
}
