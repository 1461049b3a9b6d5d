/**
 * The router: one end of a connection, on the client or the server side. It
 * matches responses with requests, routes progress and cancellation, and passes
 * requests and notifications to its owner. It is independent of the transport
 * (the owner passes a function that sends) and of the era (it never reads
 * versions or handshakes).
 *
 * Invariants: every inbound request is answered exactly once, unless it is
 * cancelled or the connection ends; every outbound request settles exactly
 * once; a response with an unknown or used id changes nothing and is reported
 * as unexpected; messages are delivered in the order of their arrival, so
 * progress that arrives together with its result is never lost.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type ClassifiedMessage,
  classify,
  metaOf,
  paramsOf,
  type RpcId,
  type RpcMessage,
  type RpcResponse,
} from "./json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "./mcp-error.ts";
import { remoteError } from "./remote-error.ts";
import { RequestTable } from "./request-table.ts";

/** A request of the peer. */
export interface InboundRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** Aborts when the peer cancels the request or the connection ends. */
  readonly signal: AbortSignal;
  /** Client side of HTTP: the id of our request on whose stream it arrived. */
  readonly relatedTo: RpcId | undefined;
}

/** Callbacks of a router. */
export interface RouterHandlers {
  /** Answers a request. A thrown error becomes the JSON-RPC error. */
  request(request: InboundRequest): Promise<JsonObject>;
  /** Reports that the peer cancelled its request `id`: no response is sent. */
  cancelled?(id: RpcId): void;
  /** Receives a notification that no pending request handles. */
  notification(method: string, params: JsonObject, relatedTo: RpcId | undefined): void;
  /** Reports a response to no pending request, or an invalid message; for the log. */
  unexpected?(reason: string): void;
}

/**
 * Sends `message`. `relatedTo` is the request of the peer that the message
 * answers or belongs to; undefined if it belongs to none.
 */
export type SendMessage = (message: RpcMessage, relatedTo: RpcId | undefined) => void;

/** Options of one outbound request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until it fails with `MCP_TIMEOUT`. @default no limit other than the signal */
  readonly timeoutMs?: number;
  /** Receives progress (`params` of `notifications/progress` without the token). Without it, no progress is requested. */
  readonly onProgress?: (params: JsonObject) => void;
  /** Receives other notifications that the transport attributes to this request. */
  readonly onNotification?: (method: string, params: JsonObject) => void;
  /** The inbound request that caused this one. */
  readonly relatedTo?: RpcId;
  /** Receives the id before the message is sent. */
  readonly onId?: (id: RpcId) => void;
}

/** A request of ours without a response. */
interface PendingRequest {
  readonly method: string;
  readonly options: RequestOptions;
  resolve(result: JsonObject): void;
  reject(reason: unknown): void;
}

/** Limits of a router. */
export interface RouterOptions {
  /** Maximum number of requests of the peer in flight; more are refused. @default 256 */
  readonly maxInbound?: number;
  /** The number of our requests starts after it, so that no answer to a request of an earlier router fits one. @default 0 */
  readonly lastId?: number;
  /** Removes secrets from errors of the peer before they are cut. @default they have none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** Longest delay of `setTimeout`; a longer one fires at once. */
const timerMaxMs = 2 ** 31 - 1;

/** One end of a connection. The owner passes received messages to `receive`. */
export class MessageRouter {
  readonly #send: SendMessage;
  readonly #handlers: RouterHandlers;
  readonly #maxInbound: number;
  readonly #scrub: RouterOptions["scrub"];
  readonly #pending = new RequestTable<PendingRequest>();
  readonly #inbound = new RequestTable<AbortController>();
  /** Running handlers, including those of cancelled requests: cancellation must not bypass the limit. */
  #handlerCount = 0;
  #idleListeners: (() => void)[] = [];
  #lastId: number;
  #closedBy: McpError | undefined;

  constructor(send: SendMessage, handlers: RouterHandlers, options: RouterOptions = {}) {
    this.#send = send;
    this.#handlers = handlers;
    this.#maxInbound = options.maxInbound ?? 256;
    this.#scrub = options.scrub;
    this.#lastId = options.lastId ?? 0;
  }

  /** Number of our requests without a response. */
  get outboundCount(): number {
    return this.#pending.size;
  }

  /** Number of requests of the peer that are not answered. */
  get inboundCount(): number {
    return this.#inbound.size;
  }

  /** Resolves when every request of the peer is answered. */
  whenIdle(): Promise<void> {
    if (this.#inbound.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  /** Whether a request of ours with this id has no response. */
  isWaiting(id: RpcId): boolean {
    return this.#pending.has(id);
  }

  /** Whether a request of the peer with this id is not answered. */
  isAnswering(id: RpcId): boolean {
    return this.#inbound.has(id);
  }

  /** Processes one parsed message; ignored after `close`. `relatedTo` as in `InboundRequest`. */
  receive(value: unknown, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    const classified = classify(value);
    if (classified.kind === "invalid") this.#invalid(value, classified.id, classified.reason);
    else this.receiveClassified(classified, relatedTo);
  }

  /** Processes one message that the caller has classified. */
  receiveClassified({ kind, message }: ClassifiedMessage, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    switch (kind) {
      case "response":
        this.#settle(message);
        return;
      case "notification":
        this.#receiveNotification(message.method, paramsOf(message), relatedTo);
        return;
      case "request":
        void this.#answer(message.id, message.method, paramsOf(message), relatedTo);
    }
  }

  #invalid(value: unknown, id: RpcId | null, reason: string): void {
    this.#handlers.unexpected?.(`invalid message: ${reason}`);
    if (isJsonObject(value) && value["method"] === undefined) {
      // A malformed response must not be answered. No other response to its request will arrive.
      const error = new McpError("MCP_INVALID_MESSAGE", `The answer is not valid: ${reason}`);
      if (id !== null) this.#pending.get(id)?.reject(error);
      return;
    }
    // The id of a request in flight is reserved for its own response.
    this.#refuse(id, invalidRequest(`Invalid request: ${reason}`));
  }

  /** Answers a request that no handler receives; without its id if that id belongs to a request in flight. */
  #refuse(id: RpcId | null, error: McpError): void {
    const usedId = id !== null && this.#inbound.has(id) ? null : id;
    this.#send({ jsonrpc: "2.0", id: usedId, error: toRpcError(error) }, usedId ?? undefined);
  }

  /**
   * Sends a request and returns its result.
   *
   * @throws {McpError} `MCP_REMOTE_ERROR` with the error of the peer,
   *   `MCP_TIMEOUT`, `MCP_CONNECTION_CLOSED`; the signal's reason when it aborts.
   */
  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy);
    const { signal, timeoutMs } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#lastId += 1;
    const id = this.#lastId;
    const sent = withProgressToken(params, options.onProgress === undefined ? undefined : id);
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const abandon = (reason: unknown, text: string) => {
        if (!this.#pending.has(id)) return;
        finish();
        this.#cancelRemote(id, method, text, options.relatedTo);
        reject(reason);
      };
      const aborted = () => abandon(signal?.reason, reasonText(signal?.reason));
      const finish = () => {
        this.#pending.delete(id);
        if (timer !== undefined) clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
      };
      this.#pending.set(id, {
        method,
        options,
        resolve(result) {
          finish();
          resolve(result);
        },
        reject(reason) {
          finish();
          reject(reason);
        },
      });
      signal?.addEventListener("abort", aborted);
      if (timeoutMs !== undefined) {
        timer = setTimeout(
          () => {
            const text = `"${method}" was not answered within ${timeoutMs} ms`;
            abandon(new McpError("MCP_TIMEOUT", text, { data: { timeoutMs } }), text);
          },
          Math.min(timeoutMs, timerMaxMs),
        );
      }
      options.onId?.(id);
      try {
        this.#send({ jsonrpc: "2.0", id, method, params: sent }, options.relatedTo);
      } catch (error) {
        // The parameters are not JSON; nothing was sent.
        this.#pending.get(id)?.reject(error);
      }
    });
  }

  /** Sends a notification. `relatedTo` is the request of the peer that it belongs to. */
  notify(method: string, params: JsonObject, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    this.#send({ jsonrpc: "2.0", method, params }, relatedTo);
  }

  /** Fails our request `id`, which the transport could not deliver or whose response it lost. */
  fail(id: RpcId, error: unknown): void {
    this.#pending.get(id)?.reject(error);
  }

  /**
   * Ends the connection: requests of the peer are aborted, our requests fail. Safe to repeat.
   *
   * @param error the error of later requests, which are not sent.
   * @param inFlightError the error of requests that were sent and not answered. @default error
   */
  close(error?: McpError, inFlightError?: McpError): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = error ?? new McpError("MCP_CONNECTION_CLOSED", "The connection was closed");
    for (const pending of this.#pending.values()) pending.reject(inFlightError ?? this.#closedBy);
    for (const controller of this.#inbound.values()) controller.abort(this.#closedBy);
    for (const id of this.#inbound.ids()) this.#forget(id);
  }

  async #answer(id: RpcId, method: string, params: JsonObject, relatedTo: RpcId | undefined): Promise<void> {
    if (this.#inbound.has(id)) {
      this.#refuse(id, invalidRequest(`Request id ${JSON.stringify(id)} is already in use`));
      return;
    }
    if (this.#handlerCount >= this.#maxInbound) {
      const text = `More than ${this.#maxInbound} requests are in flight`;
      this.#refuse(
        id,
        new McpError("MCP_OVERLOADED", text, { hint: "wait for answers before sending more" }),
      );
      return;
    }
    let response: RpcResponse;
    const controller = new AbortController();
    this.#inbound.set(id, controller);
    this.#handlerCount += 1;
    try {
      const result = await this.#handlers.request({
        id,
        method,
        params,
        signal: controller.signal,
        relatedTo,
      });
      response = { jsonrpc: "2.0", id, result };
    } catch (thrown) {
      response = { jsonrpc: "2.0", id, error: toRpcError(thrown) };
    }
    this.#handlerCount -= 1;
    // A cancelled request is no longer in the table and gets no response (MCP, cancellation).
    if (this.#inbound.get(id) !== controller) return;
    try {
      this.#send(response, id);
    } catch (thrown) {
      // The result is not JSON (a cycle, a BigInt). The request still needs a response.
      this.#send({ jsonrpc: "2.0", id, error: toRpcError(thrown) }, id);
    }
    this.#forget(id);
  }

  #forget(id: RpcId): void {
    this.#inbound.delete(id);
    if (this.#inbound.size > 0 || this.#idleListeners.length === 0) return;
    const listeners = this.#idleListeners;
    this.#idleListeners = [];
    for (const listener of listeners) listener();
  }

  #settle(response: RpcResponse): void {
    const pending =
      response.id === null || response.id === undefined ? undefined : this.#pending.get(response.id);
    if (pending === undefined) {
      this.#handlers.unexpected?.(
        `an answer with the unknown or used id ${JSON.stringify(response.id ?? null)}`,
      );
      return;
    }
    // Some servers send both members, one of them null. An error object decides.
    if (!("error" in response && isJsonObject(response.error))) {
      pending.resolve((response as { readonly result: JsonObject }).result);
      return;
    }
    pending.reject(remoteError(response.error, this.#scrub));
  }

  #receiveNotification(method: string, params: JsonObject, relatedTo: RpcId | undefined): void {
    if (method === "notifications/progress") {
      const { progressToken, ...progress } = params;
      const pending = this.#pending.get(progressToken as RpcId);
      if (pending?.options.onProgress !== undefined) pending.options.onProgress(progress);
      else
        this.#handlers.unexpected?.(
          `progress for the unknown token ${JSON.stringify(progressToken ?? null)}`,
        );
      return;
    }
    if (method === "notifications/cancelled") {
      const id = params["requestId"] as RpcId;
      const controller = this.#inbound.get(id);
      if (controller === undefined) return;
      this.#inbound.delete(id);
      const reason = typeof params["reason"] === "string" ? `: ${params["reason"]}` : "";
      controller.abort(new McpError("MCP_CANCELLED", `The request was cancelled${reason}`));
      this.#handlers.cancelled?.(id);
      this.#forget(id);
      return;
    }
    const pending = relatedTo === undefined ? undefined : this.#pending.get(relatedTo);
    if (pending?.options.onNotification !== undefined) pending.options.onNotification(method, params);
    else this.#handlers.notification(method, params, relatedTo);
  }

  #cancelRemote(id: RpcId, method: string, reason: string, relatedTo: RpcId | undefined): void {
    // `initialize` must not be cancelled (MCP 2025-11-25, cancellation).
    if (this.#closedBy !== undefined || method === "initialize") return;
    this.#send(
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } },
      relatedTo,
    );
  }
}

/** Returns `params` with our progress token, or without any: a token in `params` belongs to another hop. */
function withProgressToken(params: JsonObject, token: RpcId | undefined): JsonObject {
  const meta = metaOf(params);
  if (token !== undefined) return { ...params, _meta: { ...meta, progressToken: token } };
  if (meta === undefined || !Object.hasOwn(meta, "progressToken")) return params;
  const { progressToken: _foreign, ...rest } = meta;
  return { ...params, _meta: rest };
}

function reasonText(reason: unknown): string {
  return reason instanceof Error ? reason.message : "cancelled";
}
