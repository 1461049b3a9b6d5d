/** Opens one session with a server: its transport, and the handshake. */

import type { JsonObject } from "@toolcrib/json";
import { type Connection, McpError, openConnection } from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import type { CallContext, ClientSession, Era } from "@toolcrib/tool";
import { type OpenTransport, openTransport } from "./open-transport.ts";
import { senderOf } from "./received.ts";
import { ServerMessages } from "./server-messages.ts";
import { SessionCalls } from "./session-calls.ts";
import { adviceAbout, exitText } from "./upstream-failure.ts";
import type { UpstreamDeps, UpstreamSettings } from "./upstream-options.ts";
import { UpstreamSession } from "./upstream-session.ts";

/** Options of `openSession`. */
export interface SessionOptions {
  /** MCP `ClientCapabilities` to declare. */
  readonly capabilities: JsonObject;
  /** The client whose own session it is; absent for the shared session. */
  readonly owner: ClientSession | undefined;
  readonly era: Era | undefined;
  /** Whether no other era than `era` is tried. @default false */
  readonly isPinned?: boolean;
  /** Milliseconds for launch and handshake. */
  readonly timeoutMs: number;
  /** Largest message of the server. */
  readonly messageMaxBytes: number;
  readonly signal: AbortSignal;
  /** Called with the process when it has started. */
  readonly onProcess?: (process: LaunchedProcess) => void;
  /** Gets the capability that a request of the server needs. */
  readonly onAsked: (capability: string) => void;
  /** Returns the call that the server runs as the task with this id. */
  readonly taskContext: (taskId: string) => CallContext | undefined;
  /** Gets the error of each message that breaks a limit. */
  readonly onViolation: (error: McpError) => void;
  /** Gets what to say of a server that prints text during its handshake where messages belong (stdio). */
  readonly onPrinted?: (text: string) => void;
  /** Called when the server is read slowly, because it sends too much that answers no request. */
  readonly onSlowed: () => void;
  /** Reports that notifications of the session can have been lost. */
  readonly onMissed: (session: UpstreamSession) => void;
  /** Gets notifications that belong to no call: list changes and resource updates. `session` is absent during the handshake. */
  readonly onNotification: (method: string, params: JsonObject, session: UpstreamSession | undefined) => void;
}

/**
 * Opens a session with the server of `settings`.
 *
 * @throws {UpstreamError} what `openTransport` throws.
 * @throws {McpError} what `openConnection` throws.
 */
export async function openSession(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  options: SessionOptions,
): Promise<UpstreamSession> {
  const { id: serverId, scrub = (text: string) => text } = settings;
  const { owner, signal } = options;
  const deadline = deps.now() + options.timeoutMs;
  const { logger } = deps;
  await using stack = new AsyncDisposableStack();
  let session: UpstreamSession | undefined;
  let printed: string | undefined;
  const { transport, process, resolved } = await openTransport(settings, deps, {
    ...options,
    onPrinted(text) {
      if (session !== undefined) return;
      printed = text;
      options.onPrinted?.(text);
    },
  });
  if (process !== undefined) {
    stack.defer(() => process.stop());
    options.onProcess?.(process);
  }
  const calls = new SessionCalls(owner);
  const messages = new ServerMessages({
    calls,
    isInteractive: settings.isInteractive !== false,
    onAsked: options.onAsked,
    taskContext: options.taskContext,
    sender: senderOf(settings),
    logger,
    scrub,
    onNotification: (method, params) => options.onNotification(method, params, session),
  });
  const connection = await connect(transport, messages, {
    process,
    signal,
    advise: settings.advise,
    printed: () => printed,
    onUnused(reason, violation) {
      logger.debug({ server: serverId, reason: scrub(reason) }, "message was not used");
      if (violation !== undefined) options.onViolation(violation);
    },
    onSlowed: options.onSlowed,
    onMissed: () => session && options.onMissed(session),
    connectionOptions: {
      clientInfo: deps.clientInfo,
      capabilities: options.capabilities,
      era: options.era,
      isPinned: options.isPinned === true,
      scrub,
      // The package of the server can have been fetched meanwhile.
      handshakeTimeoutMs: Math.max(options.timeoutMs / 2, deadline - deps.now()),
      signal,
    },
  });
  stack.use(connection);
  calls.era = connection.era;
  session = new UpstreamSession(
    {
      connection,
      process,
      resolved,
      calls,
      messages,
      owner,
      sender: senderOf(settings),
      isInteractive: settings.isInteractive !== false,
    },
    {
      onLogLevelRefused: (reason) =>
        logger.debug({ server: serverId, reason: scrub(reason) }, "log level was not set"),
      resources: stack.move(),
    },
  );
  return session;
}

/** The options that differ between the sessions of a server. */
export type ChosenSessionOptions = Omit<
  SessionOptions,
  | "timeoutMs"
  | "messageMaxBytes"
  | "onAsked"
  | "taskContext"
  | "onViolation"
  | "onSlowed"
  | "onMissed"
  | "onNotification"
>;

/** Opens the connection. When the process ended during the handshake, the error says how. */
async function connect(
  transport: OpenTransport["transport"],
  messages: ServerMessages,
  options: {
    readonly process: LaunchedProcess | undefined;
    readonly signal: AbortSignal;
    readonly advise: UpstreamSettings["advise"];
    /** Returns the fault of a server that printed text where only messages belong; undefined for no such text. */
    readonly printed: () => string | undefined;
    readonly onUnused: (reason: string, violation?: McpError) => void;
    readonly onSlowed: () => void;
    readonly onMissed: () => void;
    readonly connectionOptions: Parameters<typeof openConnection>[2];
  },
): Promise<Connection> {
  const { process, signal, advise, printed, onUnused, onSlowed, onMissed, connectionOptions } = options;
  const handlers = {
    request: messages.request.bind(messages),
    notification: messages.notification.bind(messages),
    unexpected: onUnused,
    slowed: onSlowed,
    missed: onMissed,
  };
  try {
    return await openConnection(transport, handlers, connectionOptions);
  } catch (error) {
    const text = printed();
    if (text !== undefined && error instanceof McpError && error.code === "MCP_TIMEOUT") {
      const hint = "a server may print to standard error, and only messages to standard output";
      throw new McpError("MCP_TIMEOUT", `${error.message}; ${text}`, { hint, cause: error });
    }
    const exit = process === undefined || signal.aborted ? undefined : await exitText(process);
    const hasEnded =
      exit !== undefined && error instanceof McpError && error.code === "MCP_CONNECTION_CLOSED";
    if (!hasEnded) throw error;
    throw new McpError("MCP_CONNECTION_CLOSED", `The server ended before its handshake: it ${exit}`, {
      hint: adviceAbout(process, advise),
      cause: error,
    });
  }
}
