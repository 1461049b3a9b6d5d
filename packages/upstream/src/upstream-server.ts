/**
 * An upstream MCP server as a tool source. It connects, lists, and stays
 * connected: a server that ends or breaks is tried again with growing pauses,
 * and what it listed stays known meanwhile, so that one bad server never
 * disturbs the others or the names that clients know.
 *
 * It never retries a call that the server may have begun.
 */

import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { McpError, mcpConnectionClosed, mcpRemoteError, mcpSessionExpired } from "@toolcrib/mcp";
import type {
  CallContext,
  Era,
  Health,
  ResourceWatcher,
  SourceChange,
  SourceFeatures,
  Tool,
  ToolResult,
  ToolSource,
} from "@toolcrib/tool";
import { createClientSessions, needsOwnSession } from "./client-sessions.ts";
import { upstreamClosed, upstreamError, upstreamUnavailable } from "./codes.ts";
import { openSession, type UpstreamSession } from "./open-session.ts";
import { createResourceWatch } from "./resource-watch.ts";
import { listAll, toTools } from "./server-lists.ts";
import { UpstreamError } from "./upstream-error.ts";
import {
  resolveUpstreamLimits,
  type UpstreamDeps,
  type UpstreamLimits,
  type UpstreamSettings,
} from "./upstream-options.ts";

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
  /** Last lines of its standard error (stdio). */
  stderrTail(lineCount: number): readonly string[];
}

interface Lists {
  readonly tools: readonly Tool[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

const noLists: Lists = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

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
  const { id } = settings;
  const log = { server: id };
  const stopping = new AbortController();
  const listeners = new Set<(change: SourceChange) => void>();
  let health: Health = { state: "starting", since: deps.now() };
  let shared: UpstreamSession | undefined;
  let connecting: Promise<void> | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let retryAt = 0;
  let failures = 0;
  let connections = 0;
  let lists = noLists;
  let era: Era | undefined;
  let capabilities: JsonObject = {};
  let instructions: string | undefined;
  let lastStderr: UpstreamSession["process"];
  const refreshTimers = new Map<SourceChange["kind"], NodeJS.Timeout>();

  const clients = createClientSessions(
    (client) =>
      openSession(settings, deps, {
        capabilities: client.capabilities,
        owner: client,
        era,
        handshakeTimeoutMs: limits.handshakeTimeoutMs,
        signal: stopping.signal,
        onNotification: (method, params) => notified(method, params),
      }),
    deps.now,
    limits,
  );
  const watch = createResourceWatch({
    sessionFor: async (watcher) =>
      needsOwnSession(watcher.session) ? clients.get(watcher.session) : sharedSession(),
    shared: () => shared,
    onNotification: notified,
    logger: deps.logger,
    serverId: id,
  });

  function emit(kind: SourceChange["kind"]): void {
    for (const listener of listeners) listener({ kind });
  }

  function setHealth(state: Health["state"], reason?: string): void {
    if (health.state === "stopped" || (health.state === state && health.reason === reason)) return;
    health = reason === undefined ? { state, since: deps.now() } : { state, reason, since: deps.now() };
    emit("health");
  }

  function connect(): Promise<void> {
    connecting ??= connectOnce().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function connectOnce(): Promise<void> {
    clearTimeout(retryTimer);
    const { signal } = stopping;
    try {
      signal.throwIfAborted();
      const session = await openSession(settings, deps, {
        capabilities: sharedCapabilities,
        owner: undefined,
        era,
        handshakeTimeoutMs: limits.handshakeTimeoutMs,
        signal,
        onNotification: notified,
      });
      lastStderr = session.process;
      try {
        await adopt(session);
      } catch (error) {
        await session[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const reason = reasonOf(error);
      deps.logger.warn({ ...log, attempt: failures, reason }, "server is not available");
      setHealth("unavailable", reason);
      retryLater();
    }
  }

  async function adopt(session: UpstreamSession): Promise<void> {
    const { connection } = session;
    const loaded = await loadLists(session);
    connection.closed.throwIfAborted();
    shared = session;
    era = connection.era;
    capabilities = connection.capabilities;
    instructions = connection.instructions;
    lists = loaded;
    failures = 0;
    connections += 1;
    connection.closed.addEventListener("abort", () => void lost(session));
    setHealth("ready");
    for (const kind of ["tools", "resources", "prompts"] as const) emit(kind);
    deps.logger.info(
      { ...log, era: connection.era, protocolVersion: connection.protocolVersion, tools: lists.tools.length },
      "server is ready",
    );
    await watch.restore();
  }

  async function lost(session: UpstreamSession): Promise<void> {
    if (shared !== session) return;
    shared = undefined;
    if (stopping.signal.aborted) return;
    const reason = messageOf(session.connection.closed.reason);
    deps.logger.warn({ ...log, reason }, "connection to the server was lost");
    setHealth("unavailable", reason);
    // The rest of its process tree goes before a new one is started.
    await session[Symbol.asyncDispose]();
    retryLater();
  }

  function retryLater(): void {
    if (stopping.signal.aborted || failures > limits.reconnectMaxAttempts) return;
    const pause = Math.min(limits.reconnectMaxMs, limits.reconnectMinMs * 2 ** Math.min(failures, 20));
    // Half of the pause is spread, so that many servers of one host do not come back in step.
    const delay = Math.round(pause * (0.5 + deps.random() / 2));
    retryAt = deps.now() + delay;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(() => void connect(), delay);
    retryTimer.unref();
  }

  async function loadLists(session: UpstreamSession): Promise<Lists> {
    const has = (name: string) => session.connection.capabilities[name] !== undefined;
    const none = Promise.resolve([]);
    const [definitions, resources, resourceTemplates, prompts] = await Promise.all([
      has("tools") ? load(session, "tools/list", "tools") : none,
      has("resources") ? load(session, "resources/list", "resources") : none,
      has("resources") ? loadOptional(session, "resources/templates/list", "resourceTemplates") : none,
      has("prompts") ? load(session, "prompts/list", "prompts") : none,
    ]);
    return { tools: toOwnTools(session, definitions), resources, resourceTemplates, prompts };
  }

  function load(session: UpstreamSession, method: string, key: string): Promise<readonly JsonObject[]> {
    const { listTimeoutMs: timeoutMs, listMaxItems: maxItems } = limits;
    return listAll(session.connection, method, key, { timeoutMs, maxItems, signal: stopping.signal });
  }

  /** Many servers have resources and no templates method; that is no failure. */
  async function loadOptional(
    session: UpstreamSession,
    method: string,
    key: string,
  ): Promise<readonly JsonObject[]> {
    try {
      return await load(session, method, key);
    } catch (error) {
      if (error instanceof McpError && error.code === mcpRemoteError) return [];
      throw error;
    }
  }

  function toOwnTools(session: UpstreamSession, definitions: readonly JsonObject[]): readonly Tool[] {
    const isModernHttp = session.connection.era === "modern" && settings.kind === "streamable_http";
    const { tools, refused } = toTools(definitions, { id, tags: settings.tags ?? [], isModernHttp });
    for (const { name, reason } of refused) {
      deps.logger.warn({ ...log, tool: name, reason }, "tool definition was left out");
    }
    return tools;
  }

  function notified(method: string, params: JsonObject): void {
    if (method === "notifications/resources/updated") {
      if (typeof params["uri"] === "string") watch.updated(params["uri"]);
      return;
    }
    const kind = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
    if (kind === undefined) return;
    refreshSoon(kind as "tools" | "resources" | "prompts");
  }

  /** Changes that come in a burst are read once. */
  function refreshSoon(kind: "tools" | "resources" | "prompts"): void {
    if (refreshTimers.has(kind)) return;
    const timer = setTimeout(() => {
      refreshTimers.delete(kind);
      void refresh(kind);
    }, 20);
    refreshTimers.set(kind, timer);
  }

  async function refresh(kind: "tools" | "resources" | "prompts"): Promise<void> {
    const session = shared;
    if (session === undefined) return;
    try {
      if (kind === "tools") {
        lists = { ...lists, tools: toOwnTools(session, await load(session, "tools/list", "tools")) };
      } else if (kind === "prompts") {
        lists = { ...lists, prompts: await load(session, "prompts/list", "prompts") };
      } else {
        const resources = await load(session, "resources/list", "resources");
        const resourceTemplates = await loadOptional(
          session,
          "resources/templates/list",
          "resourceTemplates",
        );
        lists = { ...lists, resources, resourceTemplates };
      }
      emit(kind);
    } catch (error) {
      deps.logger.warn(
        { ...log, kind, reason: messageOf(error) },
        "changed list could not be read; the old one stays",
      );
    }
  }

  /** The session that clients share; waits for one that is being made, within limits. */
  async function sharedSession(signal?: AbortSignal): Promise<UpstreamSession> {
    if (shared !== undefined) return shared;
    const isSoon = connecting !== undefined || (retryTimer !== undefined && retryAt - deps.now() <= 2000);
    if (isSoon && health.state !== "stopped") {
      await within(connecting ?? connect(), limits.connectWaitMs, signal);
      if (shared !== undefined) return shared;
    }
    throw unavailable();
  }

  function unavailable(): UpstreamError {
    const why = health.reason === undefined ? "" : `: ${health.reason}`;
    const seconds = Math.max(1, Math.ceil((retryAt - deps.now()) / 1000));
    const isConnecting = connecting !== undefined;
    return new UpstreamError(upstreamUnavailable, `The server "${id}" is not available${why}`, {
      hint:
        health.state === "stopped"
          ? undefined
          : isConnecting
            ? "it is being connected; try again"
            : `it is tried again in ${seconds} s`,
      data: { server: id },
    });
  }

  async function request(
    method: string,
    params: JsonObject,
    context: CallContext,
    options?: { readonly inputSchema?: JsonObject },
  ): Promise<JsonObject> {
    for (let attempt = 1; ; attempt += 1) {
      const session = needsOwnSession(context.session)
        ? await clients.get(context.session)
        : (shared ?? (await sharedSession(context.signal)));
      try {
        return await session.request(method, params, context, options);
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        // An expired session means that the server never looked at the request.
        const isUntouched = error instanceof McpError && error.code === mcpSessionExpired;
        if (isUntouched && attempt === 1) {
          await connecting?.catch(() => {});
          continue;
        }
        throw toUpstreamError(id, error);
      }
    }
  }

  const features: SourceFeatures = {
    capabilities: () => capabilities,
    instructions: () => instructions,
    resources: () => lists.resources,
    resourceTemplates: () => lists.resourceTemplates,
    prompts: () => lists.prompts,
    request: (method, params, context) => request(method, params, context),
    watch: (uri: string, watcher: ResourceWatcher) => watch.add(uri, watcher),
    unwatch: (uri: string, watcher: ResourceWatcher) => watch.remove(uri, watcher),
  };

  return {
    id,
    origin: "server",
    features,
    start: (signal) => {
      signal.addEventListener("abort", () => stopping.abort(signal.reason), { once: true });
      return connect();
    },
    tools: () => lists.tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async call(tool, args, context) {
      const { name, inputSchema } = tool.definition;
      const result = await request("tools/call", { name, arguments: args }, context, { inputSchema });
      return result as unknown as ToolResult;
    },
    health: () => health,
    facts: () => ({
      protocolVersion: shared?.connection.protocolVersion,
      serverInfo: shared?.connection.serverInfo,
      pid: shared?.process?.pid,
      restarts: Math.max(0, connections - 1),
      clientSessions: clients.size,
    }),
    stderrTail: (lineCount) => lastStderr?.stderr.tail(lineCount) ?? [],
    async [Symbol.asyncDispose]() {
      setHealth("stopped");
      if (!stopping.signal.aborted)
        stopping.abort(new UpstreamError(upstreamClosed, `The server "${id}" was stopped`));
      clearTimeout(retryTimer);
      for (const timer of refreshTimers.values()) clearTimeout(timer);
      await connecting;
      const session = shared;
      shared = undefined;
      await Promise.allSettled([session?.[Symbol.asyncDispose](), clients[Symbol.asyncDispose]()]);
    },
  };
}

/** A failure of the wire as a failure of this server; errors of the server itself keep their JSON-RPC code. */
function toUpstreamError(id: string, error: unknown): unknown {
  if (!(error instanceof McpError)) return error;
  if (error.code === mcpRemoteError) {
    return new UpstreamError(upstreamError, error.message, {
      cause: error,
      data: {
        server: id,
        rpcCode: error.rpcCode,
        ...(error.rpcData === undefined ? undefined : { rpcData: error.rpcData }),
      },
    });
  }
  if (error.code === mcpConnectionClosed) {
    return new UpstreamError(upstreamClosed, `The server "${id}" ended before it answered`, {
      cause: error,
      hint: "it is restarted; the call may have had an effect, so check before you repeat it",
      data: { server: id },
    });
  }
  return error;
}

function reasonOf(error: unknown): string {
  const { hint } = error as Partial<CodedError>;
  return isCodedError(error) && hint !== undefined ? `${error.message} (${hint})` : messageOf(error);
}

/** Wait for `work`, at most `timeoutMs`. @throws the signal's reason when it aborts */
async function within(
  work: Promise<void>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const waited = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
  await Promise.race([
    work,
    new Promise<void>((resolve) => waited.addEventListener("abort", () => resolve(), { once: true })),
  ]);
  signal?.throwIfAborted();
}
