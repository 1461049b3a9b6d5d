/**
 * One session with a server: transport, handshake, and the calls that run on
 * it. What the server asks or says meanwhile goes to the call or the client on
 * whose account it came (`call-ledger.ts`), and to nobody else.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  type Connection,
  type ConnectionRequestOptions,
  type InboundRequest,
  McpError,
  methodNotFound,
  openConnection,
  type RpcId,
} from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import type { CallContext, ClientSession, Era } from "@toolcrib/tool";
import { type Addressee, createCallLedger, requiredElicitations } from "./call-ledger.ts";
import { openTransport } from "./open-transport.ts";
import { UpstreamError } from "./upstream-error.ts";
import { exitText } from "./upstream-failure.ts";
import type { ResolvedTransport, UpstreamDeps, UpstreamSettings } from "./upstream-options.ts";
import { untilAborted } from "./wait.ts";

/** A session and the process behind it, if there is one. */
export interface UpstreamSession extends AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void>;
  readonly connection: Connection;
  readonly process: LaunchedProcess | undefined;
  /** What it was opened with, secrets included. */
  readonly resolved: ResolvedTransport;
  /** Send a request on account of `context`. @throws {McpError} `MCP_SESSION_EXPIRED` when nothing was sent */
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
  /** Milliseconds for launch and handshake. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Hears of the process as soon as there is one. */
  readonly onProcess?: (process: LaunchedProcess) => void;
  /** Notifications that belong to no call: list changes and resource updates. */
  readonly onNotification: (method: string, params: JsonObject, session: UpstreamSession | undefined) => void;
}

/** Open a session with the server of `settings`. @throws {McpError | UpstreamError} */
export async function openSession(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  options: SessionOptions,
): Promise<UpstreamSession> {
  const { owner } = options;
  const log = { server: settings.id };
  const scrub = settings.scrub ?? ((text: string) => text);
  const deadline = deps.now() + options.timeoutMs;
  const { transport, process, resolved } = await openTransport(settings, deps, options);
  if (process !== undefined) options.onProcess?.(process);
  let session: UpstreamSession | undefined;
  let era: Era = "legacy";
  const ledger = createCallLedger(owner, () => era);

  function answer({ method, params, signal, relatedTo }: InboundRequest): Promise<JsonObject> {
    const capability = capabilityFor[method];
    if (capability === undefined) return Promise.reject(methodNotFound(method));
    const addressee = ledger.addresseeOf(relatedTo);
    const context = addressee?.kind === "call" ? addressee.context : ledger.refuser(capability);
    if (params["mode"] === "url") ledger.elicited(params["elicitationId"], context);
    if (context !== undefined) {
      // With several calls of the owner under way, which one it was is a guess: its end must not end the question.
      const isSure = relatedTo !== undefined || ledger.size === 1;
      return context.ask(method, params, isSure ? AbortSignal.any([signal, context.signal]) : signal);
    }
    if (addressee?.kind === "client") return addressee.session.ask(method, params, signal);
    if (method === "roots/list") return Promise.resolve({ roots: [] });
    return Promise.reject(
      new UpstreamError("UPSTREAM_ASK_UNATTRIBUTED", `"${method}" cannot be attributed to one client's call`),
    );
  }

  function notified(method: string, params: JsonObject, relatedTo?: RpcId): void {
    if (method === "notifications/message") {
      if (tell(ledger.listenerTo(relatedTo), method, params)) return;
      // A message that nobody can be held to account for may concern another client.
      const data = scrub(JSON.stringify(params["data"]) ?? "").slice(0, 1000);
      deps.logger.debug({ ...log, level: params["level"], data }, "log message of the server");
    } else if (method === "notifications/elicitation/complete") {
      const addressee = ledger.elicitedBy(params["elicitationId"]) ?? ledger.addresseeOf(relatedTo);
      if (!tell(addressee, method, params))
        deps.logger.debug(log, "end of an elicitation that no client asked for");
    } else options.onNotification(method, params, session);
  }

  let connection: Connection;
  try {
    connection = await openConnection(
      transport,
      {
        request: answer,
        notification: notified,
        stray: (reason) => deps.logger.debug({ ...log, reason: scrub(reason) }, "message was not used"),
      },
      {
        clientInfo: deps.clientInfo,
        capabilities: options.capabilities,
        era: options.era,
        handshakeTimeoutMs: Math.max(1, deadline - deps.now()),
        signal: options.signal,
      },
    );
  } catch (error) {
    const exit = process === undefined || options.signal.aborted ? undefined : await exitText(process);
    await process?.stop();
    const hasEnded =
      exit !== undefined && error instanceof McpError && error.code === "MCP_CONNECTION_CLOSED";
    if (!hasEnded) throw error;
    throw new McpError("MCP_CONNECTION_CLOSED", `The server ended before its handshake: it ${exit}`, {
      cause: error,
    });
  }
  era = connection.era;
  const settleLogLevel = createLogLevel(connection, owner, (reason) =>
    deps.logger.debug({ ...log, reason: scrub(reason) }, "log level was not set"),
  );
  passOnRoots(connection, owner);

  session = {
    connection,
    process,
    resolved,
    async request(method, params, context, requestOptions) {
      const settling = settleLogLevel();
      if (settling !== undefined) await untilAborted(settling, context.signal);
      if (connection.closed.aborted) {
        throw new McpError("MCP_SESSION_EXPIRED", "The session ended before the request was sent", {
          cause: connection.closed.reason,
        });
      }
      let id: RpcId | undefined;
      try {
        return await connection.request(method, withMeta(params, context), {
          signal: context.signal,
          onProgress: context.wantsProgress ? (progress) => context.progress(progress) : undefined,
          onNotification: (name, notification) => notified(name, notification, id),
          onId(given) {
            id = given;
            ledger.add(given, context);
          },
          logLevel: context.session?.logLevel,
          ...requestOptions,
        });
      } catch (error) {
        if (error instanceof McpError && error.code === "MCP_REMOTE_ERROR") {
          for (const one of requiredElicitations(error.rpcCode, error.rpcData)) ledger.elicited(one, context);
        }
        throw error;
      } finally {
        if (id !== undefined) ledger.delete(id);
      }
    },
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await process?.stop();
    },
  };
  return session;
}

/** What a server may ask of its client, and the capability that it needs. */
const capabilityFor: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

/** @returns whether there was somebody to tell */
function tell(addressee: Addressee | undefined, method: string, params: JsonObject): boolean {
  if (addressee?.kind === "call") addressee.context.notify(method, params);
  else addressee?.session.notify(method, params);
  return addressee !== undefined;
}

const logLevelTimeoutMs = 5000;

/**
 * A function that passes the owner's log level on when it is another one than
 * before, and gives what to wait for. A server that refuses it is not asked again.
 */
function createLogLevel(
  connection: Connection,
  owner: ClientSession | undefined,
  refused: (reason: string) => void,
): () => Promise<void> | undefined {
  let sent: string | undefined;
  let settling: Promise<void> | undefined;
  const isOffered = connection.era === "legacy" && connection.capabilities["logging"] !== undefined;
  if (owner === undefined || !isOffered) return () => undefined;
  return () => {
    const level = owner.logLevel;
    if (level === undefined || level === sent) return settling;
    sent = level;
    const setting = connection
      .request("logging/setLevel", { level }, { timeoutMs: logLevelTimeoutMs })
      .catch((error: unknown) => refused(messageOf(error)))
      .then(() => {
        if (settling === setting) settling = undefined;
      });
    settling = setting;
    return setting;
  };
}

function passOnRoots(connection: Connection, owner: ClientSession | undefined): void {
  if (connection.era !== "legacy" || owner?.capabilities["roots"] === undefined) return;
  const unsubscribe = owner.onRootsChanged?.(() => connection.notify("notifications/roots/list_changed", {}));
  if (unsubscribe !== undefined) connection.closed.addEventListener("abort", unsubscribe, { once: true });
}

function withMeta(params: JsonObject, context: CallContext): JsonObject {
  return context.meta === undefined ? params : { ...params, _meta: context.meta };
}
