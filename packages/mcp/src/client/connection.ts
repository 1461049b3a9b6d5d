/**
 * A connection to one server, independent of transport and era: the handshake,
 * requests with progress and cancellation, and requests of the server. The
 * owner may remember the era, which the next handshake then tries first.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { Era } from "@toolcrib/tool";
import { metaOf, type RpcId } from "../json-rpc.ts";
import { McpError, methodNotFound } from "../mcp-error.ts";
import { type InboundRequest, MessageRouter, type RouterHandlers } from "../message-router.ts";
import { metaKeys } from "../protocol.ts";
import { type Agreement, type HandshakeOptions, modernMeta, negotiate } from "./handshake.ts";
import type { ClientTransport, SendHints } from "./transport.ts";

/** Callbacks for messages of the server. */
export interface ConnectionHandlers {
  /** Answers a request of the server (sampling, elicitation, roots); `relatedTo` is our request on whose stream it arrived. */
  request?(request: InboundRequest): Promise<JsonObject>;
  /**
   * Receives a notification that belongs to no pending request with its own
   * handler. `relatedTo` is the request on whose stream it arrived, answered or not.
   */
  notification?(method: string, params: JsonObject, relatedTo: RpcId | undefined): void;
  /** Reports a message that is invalid or was not expected; for the log. `violation` is set where it breaks a limit. */
  unexpected?(reason: string, violation?: McpError): void;
  /** Reports that the server is read slowly, because it sends too much that answers no request. */
  slowed?(): void;
  /** Reports that notifications which belong to no request can have been lost. */
  missed?(): void;
}

/** Options of `openConnection`. */
export interface ConnectionOptions extends HandshakeOptions {
  /** Milliseconds for the whole handshake. @default 30,000 */
  readonly handshakeTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Options of one request. */
export interface ConnectionRequestOptions {
  /** Cancels the request at the server; the request rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the request fails. @default no limit other than the signal */
  readonly timeoutMs?: number;
  /** Receives progress. Without it, the server is not asked to report any. */
  readonly onProgress?: (params: JsonObject) => void;
  /**
   * Receives notifications that belong to this request: those on its stream (HTTP),
   * and those of the subscription that it opened (`subscriptions/listen`).
   */
  readonly onNotification?: (method: string, params: JsonObject) => void;
  /** Receives the id under which the server knows the request. */
  readonly onId?: (id: RpcId) => void;
  /** Modern era: lowest level of the log messages to send for this request. */
  readonly logLevel?: string | undefined;
  /** Modern era: the MCP `ClientCapabilities` of this request. @default those of the connection */
  readonly capabilities?: JsonObject | undefined;
  /** Modern era: whether the result may be questions (`input_required`), which are returned with their `resultType`. @default false */
  readonly acceptsQuestions?: boolean;
  /** Modern era: whether the result may be the handle of a task (`task`), which is returned with its `resultType`. @default false */
  readonly acceptsTask?: boolean;
  /** Modern era over HTTP: the schema whose `x-mcp-header` parameters are mirrored into headers. */
  readonly inputSchema?: JsonObject;
}

/** An open connection to a server. Disposing of it disconnects. */
export class Connection implements AsyncDisposable {
  readonly era: Era;
  readonly protocolVersion: string;
  /** MCP `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
  /** Whether the server has listed all of its versions, and none of them is of the legacy era. */
  readonly isModernOnly: boolean;
  readonly #link: Link;
  /** `_meta` members of every modern request. */
  readonly #ownMeta: JsonObject;

  constructor(link: Link, agreement: Agreement, options: HandshakeOptions) {
    this.era = agreement.era;
    this.protocolVersion = agreement.protocolVersion;
    this.capabilities = agreement.capabilities;
    this.serverInfo = agreement.serverInfo;
    this.instructions = agreement.instructions;
    this.isModernOnly = agreement.isModernOnly;
    this.#link = link;
    this.#ownMeta = modernMeta(agreement.protocolVersion, options);
  }

  /** Whether the server keeps state for this connection: over HTTP, whether it opened a session. */
  get hasSession(): boolean {
    return this.#link.transport.hasSession ?? true;
  }

  /** Number of requests without a response, by which tests see that a cancelled or late one leaves nothing behind. */
  get inFlight(): number {
    return this.#link.router.outboundCount;
  }

  /** Aborts when the connection ends, with the error that ended it as the reason. */
  get closed(): AbortSignal {
    return this.#link.closed;
  }

  /**
   * Sends a request and returns its result. Modern results come without `resultType`, except for questions.
   *
   * @throws {McpError} see `MessageRouter.request`.
   */
  request(method: string, params: JsonObject, options?: ConnectionRequestOptions): Promise<JsonObject> {
    return this.era === "modern"
      ? this.#requestModern(method, params, options)
      : this.#link.router.request(method, params, options);
  }

  notify(method: string, params: JsonObject): void {
    this.#link.router.notify(method, params);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.end(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
    await this.#link.transport.close();
  }

  async #requestModern(
    method: string,
    params: JsonObject,
    options: ConnectionRequestOptions = {},
  ): Promise<JsonObject> {
    const { logLevel, inputSchema, capabilities } = options;
    const meta = {
      ...metaOf(params),
      ...this.#ownMeta,
      ...(capabilities === undefined ? undefined : { [metaKeys.clientCapabilities]: capabilities }),
      ...(logLevel === undefined ? undefined : { [metaKeys.logLevel]: logLevel }),
    };
    const result = await this.#link.request(method, { ...params, _meta: meta }, options, { inputSchema });
    return withoutResultType(result, options);
  }
}

/** A router and its transport, from before the handshake to the end of the connection. */
class Link {
  readonly transport: ClientTransport;
  readonly router: MessageRouter;
  readonly #ended = new AbortController();
  /** Hints for the message that is being sent. */
  #hints: SendHints | undefined;

  constructor(
    transport: ClientTransport,
    handlers: ConnectionHandlers,
    { scrub }: Pick<ConnectionOptions, "scrub">,
  ) {
    this.transport = transport;
    const own: RouterHandlers = {
      request: (request) =>
        handlers.request === undefined || request.method === "ping"
          ? answerPing(request)
          : handlers.request(request),
      notification: (method, params, relatedTo) => handlers.notification?.(method, params, relatedTo),
      unexpected: (reason) => handlers.unexpected?.(reason),
    };
    this.router = new MessageRouter((message) => transport.send(message, this.#hints), own, { scrub });
  }

  get closed(): AbortSignal {
    return this.#ended.signal;
  }

  open(handlers: ConnectionHandlers, signal: AbortSignal): Promise<void> {
    return this.transport.open(
      {
        message: (value, relatedTo) => this.#receive(value, relatedTo),
        failed: (id, error) => this.router.fail(id, error),
        closed: (error) => this.end(error),
        invalid: (reason, violation) => handlers.unexpected?.(reason, violation),
        slowed: () => handlers.slowed?.(),
        missed: () => handlers.missed?.(),
      },
      signal,
    );
  }

  request(
    method: string,
    params: JsonObject,
    options: ConnectionRequestOptions,
    hints: SendHints,
  ): Promise<JsonObject> {
    this.#hints = hints;
    // The router sends before it returns, so the hints apply to this message only.
    const answer = this.router.request(method, params, options);
    this.#hints = undefined;
    return answer;
  }

  /** Ends the connection: pending requests fail. Safe to repeat. */
  end(error: McpError): void {
    // An expired session means that one request was not processed, which is not known of those in flight.
    const inFlightError =
      error.code === "MCP_SESSION_EXPIRED"
        ? new McpError("MCP_CONNECTION_CLOSED", "The session ended before the answer came", { cause: error })
        : undefined;
    this.router.close(error, inFlightError);
    if (!this.#ended.signal.aborted) this.#ended.abort(error);
  }

  #receive(value: unknown, relatedTo: RpcId | undefined): void {
    // Servers up to 2025-03-26 may send batches.
    for (const one of Array.isArray(value) && value.length > 0 ? value : [value])
      this.router.receive(withOwnId(one), relatedTo ?? subscriptionOf(one));
  }
}

/**
 * Opens a connection over `transport`, which belongs to the connection from then on.
 *
 * @throws {McpError} `MCP_UNREACHABLE`, `MCP_HTTP_ERROR`, `MCP_UNAUTHORIZED`, `MCP_CREDENTIALS_UNAVAILABLE`, `MCP_TIMEOUT`,
 *   `MCP_UNSUPPORTED_VERSION`, `MCP_CONNECTION_CLOSED`; the signal's reason.
 */
export async function openConnection(
  transport: ClientTransport,
  handlers: ConnectionHandlers,
  options: ConnectionOptions,
): Promise<Connection> {
  const link = new Link(transport, handlers, options);
  const timeoutMs = options.handshakeTimeoutMs ?? 30_000;
  const signal = options.signal ?? new AbortController().signal;
  const opening = new AbortController();
  const timer = setTimeout(() => {
    const text = `The server did not finish its handshake within ${timeoutMs} ms`;
    opening.abort(
      new McpError("MCP_TIMEOUT", text, { hint: "see its log; a slow server may need more time" }),
    );
  }, timeoutMs);
  const aborted = () => opening.abort(signal.reason);
  signal.addEventListener("abort", aborted);
  try {
    signal.throwIfAborted();
    await link.open(handlers, opening.signal);
    const agreement = await negotiate(link, options, opening.signal);
    return new Connection(link, agreement, options);
  } catch (error) {
    await transport.close();
    const isCoded = error instanceof McpError;
    link.end(isCoded ? error : new McpError("MCP_CONNECTION_CLOSED", "The connection was not opened"));
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }
}

function withoutResultType(
  result: JsonObject,
  { acceptsQuestions, acceptsTask }: Pick<ConnectionRequestOptions, "acceptsQuestions" | "acceptsTask">,
): JsonObject {
  const { resultType, ...rest } = result;
  if (resultType === undefined || resultType === "complete") return rest;
  if (resultType === "input_required" && acceptsQuestions === true) return result;
  if (resultType === "task" && acceptsTask === true) return result;
  if (resultType === "input_required") {
    throw new McpError(
      "MCP_CLIENT_CAPABILITY_MISSING",
      "The server needs input from the client for a request that cannot give any",
      { hint: "report it to the maintainers of the server" },
    );
  }
  throw new McpError(
    "MCP_INVALID_MESSAGE",
    `The server answered with the unknown result type "${String(resultType)}"`,
  );
}

/** Restores the id or the progress token of a request of ours, which is a number: some servers return it as a string. */
function withOwnId(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { id, method, params } = value;
  if (method === undefined) return isNumeral(id) ? { ...value, id: Number(id) } : value;
  if (method !== "notifications/progress" || !isJsonObject(params)) return value;
  const { progressToken } = params;
  if (!isNumeral(progressToken)) return value;
  return { ...value, params: { ...params, progressToken: Number(progressToken) } };
}

function isNumeral(id: unknown): boolean {
  return typeof id === "string" && /^[1-9]\d{0,14}$/.test(id);
}

/** Returns the request whose `subscriptions/listen` stream a notification belongs to; stdio has no other sign of it. */
function subscriptionOf(value: unknown): RpcId | undefined {
  if (!isJsonObject(value) || value["id"] !== undefined || !isJsonObject(value["params"])) return undefined;
  const id = metaOf(value["params"])?.[metaKeys.subscriptionId];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function answerPing(request: InboundRequest): Promise<JsonObject> {
  return request.method === "ping" ? Promise.resolve({}) : Promise.reject(methodNotFound(request.method));
}
