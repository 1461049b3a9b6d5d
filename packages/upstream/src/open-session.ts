/**
 * One session with a server: transport, handshake, and the calls that run on
 * it. What the server sends back is attributed to the call that caused it: by
 * the stream it came on (HTTP), else by being the only call in flight, else, on
 * a session that belongs to one client, to that client.
 */

import type { JsonObject } from "@toolcrib/json";
import {
  type ClientTransport,
  type Connection,
  type ConnectionRequestOptions,
  createHttpTransport,
  createSseTransport,
  createStdioTransport,
  type InboundRequest,
  McpError,
  mcpConnectionClosed,
  methodNotFound,
  openConnection,
  type RpcId,
} from "@toolcrib/mcp";
import type { CallContext, ClientSession, Era } from "@toolcrib/tool";
import { upstreamAskUnattributed } from "./codes.ts";
import type { ServerProcess } from "./process/server-process.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamDeps, UpstreamSettings } from "./upstream-options.ts";

/** A session and the process behind it, if there is one. */
export interface UpstreamSession extends AsyncDisposable {
  readonly connection: Connection;
  readonly process: ServerProcess | undefined;
  /** Calls that run on it. */
  readonly callCount: number;
  /** Send a request on account of `context`. @throws {McpError} */
  request(
    method: string,
    params: JsonObject,
    context: CallContext,
    options?: Pick<ConnectionRequestOptions, "inputSchema">,
  ): Promise<JsonObject>;
}

/** Options of `openSession`. */
export interface SessionOptions {
  /** MCP `ClientCapabilities` to declare. */
  readonly capabilities: JsonObject;
  /** The client whose session it is; absent for the one that all others share. */
  readonly owner: ClientSession | undefined;
  readonly era: Era | undefined;
  readonly handshakeTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Notifications that belong to no call: list changes and resource updates. */
  readonly onNotification: (method: string, params: JsonObject) => void;
}

/** Open a session with the server of `settings`. @throws {McpError | UpstreamError} */
export async function openSession(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  options: SessionOptions,
): Promise<UpstreamSession> {
  const { transport, process } = await openTransport(settings, deps, options.signal);
  const calls = new Map<RpcId, CallContext>();
  const log = { server: settings.id };

  /** The call on whose account a message came; undefined when that cannot be told. */
  function callFor(relatedTo: RpcId | undefined): CallContext | undefined {
    if (relatedTo !== undefined) return calls.get(relatedTo);
    if (calls.size === 1 || options.owner !== undefined) return [...calls.values()].at(-1);
    return undefined;
  }

  function answer(request: InboundRequest): Promise<JsonObject> {
    const { method, params, signal } = request;
    if (!askable.has(method)) return Promise.reject(methodNotFound(method));
    const context = callFor(request.relatedTo);
    if (context !== undefined) return context.ask(method, params, AbortSignal.any([signal, context.signal]));
    if (options.owner !== undefined) return options.owner.ask(method, params, signal);
    if (method === "roots/list") return Promise.resolve({ roots: [] });
    return Promise.reject(
      new UpstreamError(upstreamAskUnattributed, `"${method}" cannot be attributed to one client's call`),
    );
  }

  function notified(method: string, params: JsonObject): void {
    if (method !== "notifications/message") {
      options.onNotification(method, params);
      return;
    }
    const context = callFor(undefined);
    if (context !== undefined) context.notify(method, params);
    else if (options.owner !== undefined) options.owner.notify(method, params);
    // A message that nobody can be held to account for reaches the log only: it may concern another client.
    else
      deps.logger.debug(
        { ...log, data: params["data"], level: params["level"] },
        "log message of the server",
      );
  }

  let connection: Connection;
  try {
    connection = await openConnection(
      transport,
      {
        request: answer,
        notification: notified,
        stray: (reason) => deps.logger.debug({ ...log, reason }, "message of the server was not used"),
      },
      {
        clientInfo: deps.clientInfo,
        capabilities: options.capabilities,
        era: options.era,
        handshakeTimeoutMs: options.handshakeTimeoutMs,
        signal: options.signal,
      },
    );
  } catch (error) {
    const exit = process === undefined ? undefined : await exitText(process);
    await process?.stop();
    if (exit !== undefined && error instanceof McpError && error.code === mcpConnectionClosed) {
      throw new McpError(mcpConnectionClosed, `The server ended before its handshake: it ${exit}`, {
        cause: error,
      });
    }
    throw error;
  }

  return {
    connection,
    process,
    get callCount() {
      return calls.size;
    },
    async request(method, params, context, requestOptions) {
      let id: RpcId | undefined;
      try {
        return await connection.request(method, withMeta(params, context), {
          signal: context.signal,
          onProgress: context.wantsProgress ? (progress) => context.progress(progress) : undefined,
          onNotification: (name, notification) => {
            if (name === "notifications/message") context.notify(name, notification);
            else options.onNotification(name, notification);
          },
          onId(given) {
            id = given;
            calls.set(given, context);
          },
          logLevel: context.session?.logLevel,
          ...requestOptions,
        });
      } finally {
        if (id !== undefined) calls.delete(id);
      }
    },
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await process?.stop();
    },
  };
}

/** What a server may ask of its client. */
const askable: ReadonlySet<string> = new Set(["sampling/createMessage", "elicitation/create", "roots/list"]);

async function openTransport(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  signal: AbortSignal,
): Promise<{ transport: ClientTransport; process: ServerProcess | undefined }> {
  const resolved = await settings.resolveTransport();
  if (resolved.kind === "custom") return { transport: resolved.transport, process: undefined };
  if (resolved.kind === "streamable_http") {
    return { transport: createHttpTransport(deps.httpClient, resolved), process: undefined };
  }
  if (resolved.kind !== "stdio") {
    return { transport: createSseTransport(deps.httpClient, resolved), process: undefined };
  }
  const { command, args, env, cwd } = resolved;
  const process = await deps.launcher.launch({ command, args, env, cwd, label: settings.id }, { signal });
  return { transport: createStdioTransport(process), process };
}

function withMeta(params: JsonObject, context: CallContext): JsonObject {
  return context.meta === undefined ? params : { ...params, _meta: context.meta };
}

/** How the process ended, once it did; undefined while it still runs half a second later. */
async function exitText(process: ServerProcess): Promise<string | undefined> {
  const stillRuns = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 500).unref());
  const exit = await Promise.race([process.exited, stillRuns]);
  return exit?.description;
}
