/**
 * Streamable HTTP on the client side, both eras: one POST per message, with the
 * response as JSON or as an event stream. The legacy era adds a session, a GET
 * stream, and event streams that are resumed when they break.
 *
 * It never repeats a request, except to follow a redirect within the origin. A response that may
 * come from the server's application ends no session: the session is checked
 * with a request of its own.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { JsonValue } from "@toolcrib/json";
import { faultOf, messageMaxValues } from "../framing/lines.ts";
import { parseMessage } from "../framing/parse-message.ts";
import { paramsOf, type RpcId, type RpcMessage, type RpcNotification, type RpcRequest } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { encodeHeaderValue, mirroredName, parameterHeaders } from "../mirrored-headers.ts";
import { modernVersionOf } from "../modern-version.ts";
import { RequestTable } from "../request-table.ts";
import type { CredentialProvider } from "./credentials.ts";
import { FloodMeter } from "./flood-gate.ts";
import type { HttpClient, HttpConnections, NetworkSettings } from "./http-client.ts";
import { isEventStream, networkError, readErrorBody, readText, statusError } from "./http-request.ts";
import { discardBody, HttpRequester, type HttpResponse } from "./http-requester.ts";
import { ListenStream } from "./listen-stream.ts";
import { answerError, defaultMessageMaxBytes } from "./lost-answer.ts";
import { ReadBudget, type ReadBudgetOptions } from "./read-budget.ts";
import { deliver, deliverError, sessionVerdict } from "./received-messages.ts";
import { ResponseStream, type StreamContext } from "./response-stream.ts";
import { isSessionLost } from "./session-check.ts";
import type { ClientTransport, SendHints, TransportReceiver } from "./transport.ts";

/** Options of `HttpTransport`. */
export interface HttpTransportOptions {
  readonly url: string;
  /** Returns the headers that authenticate each request. @default none */
  readonly credentials?: CredentialProvider;
  /** The network path to the server. @default a direct connection */
  readonly network?: NetworkSettings;
  /** Largest response or event in bytes. @default 33,554,432 */
  readonly messageMaxBytes?: number;
  /** Consecutive attempts to resume a broken stream that deliver nothing, before its request fails. @default 5 */
  readonly maxResumptions?: number;
  /** Bounds what responses hold while they are read. @default each response for itself, by `messageMaxBytes` */
  readonly reading?: ReadBudgetOptions;
  /** Milliseconds since the epoch, to slow down a server that sends without end. @default it is not slowed down */
  readonly now?: () => number;
  /** Removes secrets from a text of the server before it is cut. @default it has none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** Longest wait for the response to DELETE. */
const deleteTimeoutMs = 1000;
/** Longest wait for the GET stream before the first request of a session: some servers send no headers before an event. */
const listenWaitMs = 1000;
/** Longest wait for the responses of an expired session to requests that were already sent. */
const expiryTimeoutMs = 1000;
/** Longest wait for cancellations that are being sent when the connection is closed. */
const cancelTimeoutMs = 1000;

const noReceiver: TransportReceiver = { message() {}, failed() {}, closed() {}, invalid() {} };

/** Connects to a server over Streamable HTTP. */
export class HttpTransport implements ClientTransport {
  readonly kind = "streamable_http";
  readonly #connections: HttpConnections;
  readonly #requester: HttpRequester;
  readonly #maxBytes: number;
  readonly #maxResumptions: number;
  readonly #flood: FloodMeter | undefined;
  readonly #budget: ReadBudget | undefined;
  readonly #closing = new AbortController();
  /** HTTP exchanges of pending requests, by request id. */
  readonly #exchanges = new RequestTable<AbortController>();
  /** Requests that the server has not begun to answer. */
  readonly #unseen = new Set<RpcId>();
  /** Messages without a response that are being sent. */
  readonly #notifying = new Set<Promise<void>>();
  /** Cancellations of them; closing waits for these, because a server need not end its calls with the session. */
  readonly #cancelling = new Set<Promise<void>>();
  #receiver = noReceiver;
  #listenStream: ListenStream | undefined;
  readonly #listening = Promise.withResolvers<void>();
  /** Whether the session is in use: what the server sends while the stream is not open is lost. */
  #isSettled = false;
  #isClosed = false;
  #expiredBy: McpError | undefined;
  #isChecking = false;
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor(client: HttpClient, options: HttpTransportOptions) {
    this.#connections = client.connect(options.network);
    this.#requester = new HttpRequester(this.#connections, options.url, options);
    this.#maxBytes = options.messageMaxBytes ?? defaultMessageMaxBytes;
    this.#maxResumptions = options.maxResumptions ?? 5;
    this.#budget = options.reading && new ReadBudget(options.reading, this.#maxBytes);
    this.#flood = options.now && new FloodMeter(options.now, () => this.#receiver.slowed?.());
  }

  get hasSession(): boolean {
    return this.#requester.sessionId !== undefined;
  }

  async open(receiver: TransportReceiver): Promise<void> {
    this.#receiver = receiver;
  }

  send(message: RpcMessage, hints: SendHints = {}): void {
    if (this.#isClosed) {
      const isRequest = "method" in message && "id" in message;
      if (isRequest && this.#expiredBy !== undefined) this.#receiver.failed(message.id, this.#expiredBy);
      return;
    }
    const { method } = message as { readonly method?: string };
    const post = postOf(message, hints);
    if (method !== undefined && "id" in message) {
      void this.#request(post, message.id as RpcId);
    } else if (method === "notifications/cancelled" && "method" in message) {
      // In the modern era, closing the stream cancels the request. In the legacy era the server may keep it open.
      if (this.#requester.isLegacy) {
        const sent = this.#notify(post).finally(() => this.#cancelling.delete(sent));
        this.#cancelling.add(sent);
      }
      this.#exchanges.get(paramsOf(message)["requestId"] as RpcId)?.abort();
    } else {
      const sent = this.#notify(post);
      if (method === "notifications/initialized") void sent.then(() => this.#listen());
    }
  }

  negotiated(version: string): void {
    this.#requester.version = version;
  }

  async settled(): Promise<void> {
    const { signal } = this.#closing;
    await Promise.race([
      this.#listening.promise,
      sleep(listenWaitMs, undefined, { signal, ref: false }).catch(() => {}),
    ]);
    this.#isSettled = true;
  }

  async flushed(): Promise<void> {
    await Promise.all(this.#notifying);
  }

  async close(): Promise<void> {
    const wasExpired = this.#expiredBy !== undefined;
    clearTimeout(this.#expiryTimer);
    if (this.#isClosed && !wasExpired) return;
    this.#isClosed = true;
    if (this.#cancelling.size > 0) {
      const late = sleep(cancelTimeoutMs, undefined, { ref: false });
      await Promise.race([Promise.all(this.#cancelling), late]);
    }
    this.#abortAll(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
    if (this.#requester.sessionId !== undefined && !wasExpired) {
      await this.#requester
        .endSession(AbortSignal.timeout(deleteTimeoutMs))
        .then(({ body }) => discardBody(body))
        .catch(() => {});
    }
    await this.#connections.close();
  }

  /** Sends a request and delivers all messages that belong to it, until its response. */
  async #request(post: Post, id: RpcId): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#exchanges.set(id, controller);
    this.#unseen.add(id);
    try {
      const response = await this.#post(post, signal);
      if (response.statusCode >= 300) {
        await this.#refused(response, id);
        return;
      }
      this.#unseen.delete(id);
      if (this.#requester.isLegacy && post.method !== "server/discover")
        this.#requester.adoptSession(response);
      // Some servers accept a request, and send its response on the GET stream.
      if (response.statusCode === 202 && this.#listenStream?.isOpen === true) {
        await discardBody(response.body);
      } else if (isEventStream(response.headers)) {
        const request = { id, signal, maxResumptions: this.#maxResumptions };
        await new ResponseStream(this.#streamContext(), request).follow(response.body);
      } else await this.#receiveBody(response, id);
    } catch (cause) {
      if (signal.aborted) return;
      const error = networkError(this.#requester.shownUrl, cause);
      if (error.code === "MCP_MESSAGE_TOO_LARGE") this.#receiver.invalid(error.message, error);
      this.#receiver.failed(id, error);
    } finally {
      this.#exchanges.delete(id);
      this.#unseen.delete(id);
      this.#endExpired();
    }
  }

  #listen(): void {
    this.#listenStream = new ListenStream(
      this.#streamContext(),
      this.#closing.signal,
      this.#listening.resolve,
      (isResumed) => {
        if (this.#isSettled && !isResumed) this.#receiver.missed?.();
      },
    );
    void this.#listenStream.run();
  }

  /** Sends a message that has no response. */
  #notify(post: Post): Promise<void> {
    const sent = this.#notifyNow(post).finally(() => this.#notifying.delete(sent));
    this.#notifying.add(sent);
    return sent;
  }

  async #notifyNow(post: Post): Promise<void> {
    const { signal } = this.#closing;
    try {
      const response = await this.#post(post, signal);
      if (response.statusCode < 300) await discardBody(response.body);
      else await this.#refused(response, undefined);
    } catch (cause) {
      if (signal.aborted) return;
      const { message: text } = networkError(this.#requester.shownUrl, cause);
      this.#receiver.invalid(`a message could not be sent: ${text}`);
    }
  }

  #post({ method, body, headers }: Post, signal: AbortSignal): Promise<HttpResponse> {
    return this.#requester.post(body, headers, signal, { isStream: method === "subscriptions/listen" });
  }

  #streamContext(): StreamContext {
    return {
      requester: this.#requester,
      receiver: this.#receiver,
      maxLength: this.#maxBytes,
      flood: this.#flood,
      budget: this.#budget,
      onSessionDoubtful: () => void this.#checkSession(),
    };
  }

  /** Handles an error status. `id` is that of the request; undefined for other messages. */
  async #refused(response: HttpResponse, id: RpcId | undefined): Promise<void> {
    const { statusCode } = response;
    const { sessionId } = this.#requester;
    const text = await readErrorBody(response.body);
    const verdict = sessionId === undefined ? "unaffected" : sessionVerdict(statusCode, text, id);
    if (verdict === "lost") {
      this.#expire(id);
      return;
    }
    if (verdict === "doubtful") void this.#checkSession();
    const error = statusError(response, this.#requester, text);
    if (id === undefined) {
      this.#receiver.invalid(error.message);
      return;
    }
    // A JSON-RPC error says more than the status, except when the credentials were refused or a wait is asked for.
    const mayHoldError =
      statusCode >= 400 &&
      statusCode !== 401 &&
      statusCode !== 403 &&
      error.data?.["retryAfterMs"] === undefined;
    if (!mayHoldError || !deliverError(this.#receiver, text, id)) this.#receiver.failed(id, error);
  }

  async #receiveBody(response: HttpResponse, id: RpcId): Promise<void> {
    const { shownUrl } = this.#requester;
    // Until the message is delivered.
    using held = this.#budget?.begin(response.body);
    const text = await readText(response.body, this.#maxBytes, held);
    let value: JsonValue;
    try {
      value = parseMessage(text, { maxLength: this.#maxBytes, maxValues: messageMaxValues });
    } catch (cause) {
      const fault = faultOf(cause);
      if (fault !== "invalid") {
        const error = answerError(fault, this.#maxBytes, cause);
        this.#receiver.invalid(error.message, error);
        this.#receiver.failed(id, error);
        return;
      }
      const type = String(response.headers["content-type"] ?? "no content type");
      const detail = `HTTP ${response.statusCode} with "${type}" and no JSON-RPC answer`;
      const reason = `The server at ${shownUrl} answered ${detail}`;
      this.#receiver.failed(id, new McpError("MCP_INVALID_MESSAGE", reason, { cause }));
      return;
    }
    if (deliver(this.#receiver, value, id)) return;
    // Nothing more arrives for this request.
    const reason = `The response of the server at ${shownUrl} contains no response to the request`;
    this.#receiver.failed(id, new McpError("MCP_INVALID_MESSAGE", reason));
  }

  /** Ends the session if the server no longer knows it. One check runs at a time. */
  async #checkSession(): Promise<void> {
    if (this.#isChecking || this.#isClosed || this.#requester.sessionId === undefined) return;
    this.#isChecking = true;
    const isLost = await isSessionLost(this.#requester, this.#closing.signal);
    this.#isChecking = false;
    if (isLost && !this.#isClosed) this.#expire(undefined);
  }

  /**
   * Ends an expired session. The server did not process request `id`. Requests
   * that were already sent get the same status, so their responses are awaited.
   */
  #expire(id: RpcId | undefined): void {
    const text = `The server at ${this.#requester.shownUrl} no longer knows the session`;
    const error = new McpError("MCP_SESSION_EXPIRED", text);
    if (id !== undefined) {
      this.#unseen.delete(id);
      this.#receiver.failed(id, error);
    }
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#expiredBy = error;
    this.#expiryTimer = setTimeout(() => {
      this.#unseen.clear();
      this.#endExpired();
    }, expiryTimeoutMs);
    this.#endExpired();
  }

  /** Ends an expired session once the server has answered every request. */
  #endExpired(): void {
    if (this.#expiredBy === undefined || this.#unseen.size > 0 || this.#closing.signal.aborted) return;
    clearTimeout(this.#expiryTimer);
    this.#receiver.closed(this.#expiredBy);
    this.#abortAll(this.#expiredBy);
  }

  #abortAll(reason: McpError): void {
    for (const controller of this.#exchanges.values()) controller.abort(reason);
    this.#closing.abort(reason);
  }
}

/** The form in which a message is sent: the message itself is not kept until its response. */
interface Post {
  readonly method: string | undefined;
  readonly body: string | Buffer;
  readonly headers: { readonly [name: string]: string } | undefined;
}

function postOf(message: RpcMessage, { text, inputSchema }: SendHints): Post {
  const body = text ?? JSON.stringify(message);
  if (!("method" in message)) return { method: undefined, body, headers: undefined };
  const modern = modernHeaders(message);
  const headers =
    inputSchema === undefined ? modern : { ...modern, ...parameterHeaders(inputSchema, paramsOf(message)) };
  return { method: message.method, body, headers };
}

const initializeHeaders = { "mcp-method": "initialize" };

function modernHeaders(
  message: RpcRequest | RpcNotification,
): { readonly [name: string]: string } | undefined {
  const version = modernVersionOf(paramsOf(message));
  // Proxies in front of servers of both eras route by the method.
  if (version === undefined) return message.method === "initialize" ? initializeHeaders : undefined;
  const name = mirroredName(message.method, paramsOf(message));
  return {
    "mcp-protocol-version": version,
    "mcp-method": message.method,
    ...(name === undefined ? undefined : { "mcp-name": encodeHeaderValue(name) }),
  };
}
