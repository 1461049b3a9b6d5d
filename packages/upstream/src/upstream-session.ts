/**
 * One session with a server, from its handshake to its end, and the requests
 * that run on it. Disposing it closes the connection, then ends the process.
 */

import type { JsonObject } from "@toolcrib/json";
import { abortable, disposeOnce } from "@toolcrib/lifecycle";
import { type Connection, type ConnectionRequestOptions, McpError, type RpcId } from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import { type CallContext, type ClientSession, isInputRequired, type ToolAnnotations } from "@toolcrib/tool";
import {
  answeredByRequests,
  askingMethods,
  isQuestions,
  type Questions,
  questionResult,
  readState,
  receivedQuestions,
  requestCapabilities,
  withAnswers,
} from "./input-required.ts";
import type { Sender } from "./received.ts";
import type { ServerMessages } from "./server-messages.ts";
import { requiredElicitations, type SessionCalls } from "./session-calls.ts";
import { SessionLogLevel } from "./session-log-level.ts";
import type { ResolvedTransport } from "./upstream-options.ts";

/** The parts of a session. */
export interface SessionParts {
  readonly connection: Connection;
  readonly process: LaunchedProcess | undefined;
  readonly resolved: ResolvedTransport;
  readonly calls: SessionCalls;
  readonly messages: ServerMessages;
  /** The client whose own session it is; absent for the shared session. */
  readonly owner: ClientSession | undefined;
  readonly sender: Sender;
  /** Whether the server may ask clients. */
  readonly isInteractive: boolean;
}

/** Options of one request. */
export interface RequestOptions extends Pick<ConnectionRequestOptions, "inputSchema"> {
  /** Called right before the request is sent; what it throws is thrown, and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
  /** The annotations of the tool that is called, which can allow to send a request whose answer is lost again. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Parameters that only a server of the legacy era gets. */
  readonly legacyParams?: JsonObject | undefined;
}

/** The level of log messages for older clients that did not name one. */
const defaultLogLevel = "info";

/** A session with a server, and its process if it has one. */
export class UpstreamSession implements AsyncDisposable {
  readonly connection: Connection;
  readonly process: LaunchedProcess | undefined;
  /** The settings that the transport was opened with, secrets included. */
  readonly resolved: ResolvedTransport;
  /** The client whose own session it is; absent for a session that all clients share. */
  readonly owner: ClientSession | undefined;
  readonly #calls: SessionCalls;
  readonly #messages: ServerMessages;
  readonly #logLevel: SessionLogLevel;
  readonly #sender: Sender;
  readonly #isInteractive: boolean;
  readonly #dispose: () => Promise<void>;
  #runningCount = 0;
  #requestCount = 0;

  constructor(
    { connection, process, resolved, calls, messages, owner, sender, isInteractive }: SessionParts,
    options: {
      readonly onLogLevelRefused: (reason: string) => void;
      /** Disposed of with the session. */
      readonly resources: AsyncDisposableStack;
    },
  ) {
    this.connection = connection;
    this.process = process;
    this.resolved = resolved;
    this.owner = owner;
    this.#calls = calls;
    this.#messages = messages;
    this.#sender = sender;
    this.#isInteractive = isInteractive;
    this.#logLevel = new SessionLogLevel(connection, owner, options.onLogLevelRefused);
    this.#dispose = disposeOnce(() => options.resources.disposeAsync());
    passOnRoots(connection, owner);
  }

  /** Number of requests so far; undefined while one is running. */
  get endedRequests(): number | undefined {
    return this.#runningCount > 0 ? undefined : this.#requestCount;
  }

  /**
   * Sends a request on behalf of the call `context`, and answers the questions that a modern server returns, unless the
   * client takes them as the result.
   *
   * @throws {McpError} `MCP_SESSION_EXPIRED` when nothing was sent.
   */
  request(
    method: string,
    params: JsonObject,
    context: CallContext,
    options?: RequestOptions,
  ): Promise<JsonObject> {
    return this.connection.era === "modern" && askingMethods.has(method)
      ? this.#requestWithQuestions(method, params, context, options)
      : this.#request(method, params, context, options);
  }

  async #requestWithQuestions(
    method: string,
    params: JsonObject,
    context: CallContext,
    options: RequestOptions | undefined,
  ): Promise<JsonObject> {
    const { rounds } = context;
    const capabilities = requestCapabilities(context, this.#isInteractive);
    const repeat = async (sent: JsonObject): Promise<JsonObject | Questions> => {
      const answer = await this.#request(method, sent, context, options);
      return isInputRequired(answer) ? receivedQuestions(answer, this.#sender, capabilities) : answer;
    };
    const { server } = this.#sender;
    const state = readState(rounds?.state, server)?.state;
    const answer = await repeat(rounds === undefined ? params : withAnswers(params, rounds.responses, state));
    if (!isQuestions(answer)) return answer;
    if (rounds !== undefined) return questionResult(answer.requests, { server, state: answer.state });
    return answeredByRequests(answer, params, context, { server, repeat });
  }

  async #request(
    method: string,
    params: JsonObject,
    context: CallContext,
    { beforeSend, annotations: _annotations, legacyParams, ...options }: RequestOptions = {},
  ): Promise<JsonObject> {
    const settling = this.#logLevel.settle();
    if (settling !== undefined) await abortable(settling, context.signal);
    const { connection } = this;
    if (connection.closed.aborted) {
      throw new McpError("MCP_SESSION_EXPIRED", "The session ended before the request was sent", {
        cause: connection.closed.reason,
      });
    }
    beforeSend?.();
    let id: RpcId | undefined;
    this.#requestCount += 1;
    this.#runningCount += 1;
    try {
      const sent =
        connection.era === "legacy" && legacyParams !== undefined ? { ...params, ...legacyParams } : params;
      return await connection.request(method, withMeta(sent, context), {
        signal: context.signal,
        onProgress: context.wantsProgress
          ? (progress) => context.progress(this.#messages.received("notifications/progress", progress))
          : undefined,
        onNotification: (name, notification) => this.#messages.notification(name, notification, id),
        onId: (given) => {
          id = given;
          this.#calls.add(given, context);
        },
        ...(connection.era === "modern" ? this.#modernOptions(method, context) : undefined),
        ...options,
      });
    } catch (error) {
      if (error instanceof McpError && error.code === "MCP_REMOTE_ERROR") {
        for (const elicitationId of requiredElicitations(error.rpcCode, error.rpcData)) {
          this.#calls.addElicitation(elicitationId, context);
        }
      }
      throw error;
    } finally {
      this.#runningCount -= 1;
      if (id !== undefined) this.#calls.delete(id);
    }
  }

  /** The facts about its client in a modern request. Older clients expect log messages also if they named no level. */
  #modernOptions(method: string, context: CallContext): Partial<ConnectionRequestOptions> {
    const { session, logLevel = session?.logLevel } = context;
    const logs = this.connection.capabilities["logging"] !== undefined;
    return {
      capabilities: requestCapabilities(context, this.#isInteractive),
      logLevel: logs && session !== undefined ? (logLevel ?? defaultLogLevel) : logLevel,
      acceptsQuestions: askingMethods.has(method),
      acceptsTask: context.task !== undefined && method === "tools/call",
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }
}

function passOnRoots(connection: Connection, owner: ClientSession | undefined): void {
  if (connection.era !== "legacy" || owner?.capabilities["roots"] === undefined) return;
  const unsubscribe = owner.onRootsChanged?.(() => connection.notify("notifications/roots/list_changed", {}));
  if (unsubscribe !== undefined) connection.closed.addEventListener("abort", unsubscribe, { once: true });
}

function withMeta(params: JsonObject, context: CallContext): JsonObject {
  return context.meta === undefined ? params : { ...params, _meta: context.meta };
}
