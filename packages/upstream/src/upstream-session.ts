/**
 * One session with a server, from its handshake to its end, and the requests
 * that run on it. Disposing it closes the connection, then ends the process.
 */

import type { JsonObject } from "@toolcrib/json";
import { abortable, disposeOnce } from "@toolcrib/lifecycle";
import { type Connection, type ConnectionRequestOptions, McpError, type RpcId } from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import type { CallContext, ClientSession } from "@toolcrib/tool";
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
}

/** Options of one request. */
export interface RequestOptions extends Pick<ConnectionRequestOptions, "inputSchema"> {
  /** Called right before the request is sent; what it throws is thrown, and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

/** A session with a server, and its process if it has one. */
export class UpstreamSession implements AsyncDisposable {
  readonly connection: Connection;
  readonly process: LaunchedProcess | undefined;
  /** The settings that the transport was opened with, secrets included. */
  readonly resolved: ResolvedTransport;
  readonly #calls: SessionCalls;
  readonly #messages: ServerMessages;
  readonly #logLevel: SessionLogLevel;
  readonly #dispose: () => Promise<void>;
  #runningCount = 0;
  #requestCount = 0;

  constructor(
    { connection, process, resolved, calls, messages, owner }: SessionParts,
    options: {
      readonly onLogLevelRefused: (reason: string) => void;
      /** Disposed of with the session. */
      readonly resources: AsyncDisposableStack;
    },
  ) {
    this.connection = connection;
    this.process = process;
    this.resolved = resolved;
    this.#calls = calls;
    this.#messages = messages;
    this.#logLevel = new SessionLogLevel(connection, owner, options.onLogLevelRefused);
    this.#dispose = disposeOnce(() => options.resources.disposeAsync());
    passOnRoots(connection, owner);
  }

  /** Number of requests so far; undefined while one is running. */
  get endedRequests(): number | undefined {
    return this.#runningCount > 0 ? undefined : this.#requestCount;
  }

  /**
   * Sends a request on behalf of the call `context`.
   *
   * @throws {McpError} `MCP_SESSION_EXPIRED` when nothing was sent.
   */
  async request(
    method: string,
    params: JsonObject,
    context: CallContext,
    { beforeSend, ...options }: RequestOptions = {},
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
      return await connection.request(method, withMeta(params, context), {
        signal: context.signal,
        onProgress: context.wantsProgress
          ? (progress) => context.progress(this.#messages.received("notifications/progress", progress))
          : undefined,
        onNotification: (name, notification) => this.#messages.notification(name, notification, id),
        onId: (given) => {
          id = given;
          this.#calls.add(given, context);
        },
        logLevel: context.session?.logLevel,
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
