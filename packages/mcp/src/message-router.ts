/**
 * The router: one end of one conversation, on either edge. It matches answers
 * to requests, routes progress and cancellation, and hands requests and
 * notifications to its owner. It knows neither transport (it is given a
 * function that sends) nor era (it never looks at versions or handshakes).
 *
 * Invariants: every inbound request is answered exactly once, unless it was
 * cancelled or the conversation ended; every outbound request settles exactly
 * once; an answer with an unknown or used id changes nothing and is reported
 * as stray; messages are handed on in the order in which they came, so progress
 * that arrives together with its result is never lost.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { InFlight } from "./in-flight.ts";
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
import { rpcCodes } from "./protocol.ts";

/** A request from the other side. */
export interface InboundRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** Aborts when the other side cancels it or the conversation ends. */
  readonly signal: AbortSignal;
  /** On the client edge of HTTP: the id of our request on whose stream it came. */
  readonly relatedTo: RpcId | undefined;
}

/** What the owner of a router does with what comes in. */
export interface RouterHandlers {
  /** Answer a request; what it throws becomes the JSON-RPC error. */
  request(request: InboundRequest): Promise<JsonObject>;
  /** The other side cancelled its request `id`: no answer to it will be sent. */
  cancelled?(id: RpcId): void;
  /** Take a notification that no request of ours claimed. */
  notification(method: string, params: JsonObject, relatedTo: RpcId | undefined): void;
  /** Something that fits nowhere: an answer to nothing, an invalid message. For the log. */
  stray?(reason: string): void;
}

/**
 * Send `message`. `relatedTo` is the other side's request that the message
 * answers or belongs to; undefined when it belongs to none.
 */
export type Outlet = (message: RpcMessage, relatedTo: RpcId | undefined) => void;

/** How one outbound request behaves. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until it fails with `MCP_TIMEOUT`; no own limit when absent (the signal then carries one). */
  readonly timeoutMs?: number;
  /** Ask for progress and take it (`params` of `notifications/progress` without the token). */
  readonly onProgress?: (params: JsonObject) => void;
  /** Take other notifications that the transport attributes to this request. */
  readonly onNotification?: (method: string, params: JsonObject) => void;
  /** The inbound request on whose account this one is made. */
  readonly relatedTo?: RpcId;
  /** Called with the id before the message is sent. */
  readonly onId?: (id: RpcId) => void;
}

interface Waiter {
  readonly method: string;
  readonly options: RequestOptions;
  resolve(result: JsonObject): void;
  reject(reason: unknown): void;
}

/** Limits of a router. */
export interface RouterOptions {
  /** Most requests of the other side that are worked on at once; more are refused. @default 256 */
  readonly maxInbound?: number;
}

/** Longest delay that `setTimeout` takes; it fires at once past it. */
const timerMaxMs = 2 ** 31 - 1;

/** One end of one conversation; its owner feeds it with `receive` and gives it a way to send. */
export class MessageRouter {
  readonly #outlet: Outlet;
  readonly #handlers: RouterHandlers;
  readonly #maxInbound: number;
  readonly #waiters = new InFlight<Waiter>();
  readonly #inbound = new InFlight<AbortController>();
  /** Handlers that run, those of cancelled requests included: cancelling must not get round the limit. */
  #workCount = 0;
  #idleListeners: (() => void)[] = [];
  #lastId = 0;
  #closedBy: McpError | undefined;

  constructor(outlet: Outlet, handlers: RouterHandlers, options: RouterOptions = {}) {
    this.#outlet = outlet;
    this.#handlers = handlers;
    this.#maxInbound = options.maxInbound ?? 256;
  }

  /** Requests of ours that wait for their answer. */
  get outboundCount(): number {
    return this.#waiters.size;
  }

  /** Requests of the other side that are being worked on. */
  get inboundCount(): number {
    return this.#inbound.size;
  }

  /** Resolves when no request of the other side is being worked on. */
  whenIdle(): Promise<void> {
    if (this.#inbound.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  /** Whether a request of ours with this id waits for its answer. */
  isWaiting(id: RpcId): boolean {
    return this.#waiters.has(id);
  }

  /** Whether a request of the other side with this id is being worked on. */
  isAnswering(id: RpcId): boolean {
    return this.#inbound.has(id);
  }

  /** Take one parsed message. `relatedTo` as in `InboundRequest`. After `close` nothing is taken. */
  receive(value: unknown, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    const classified = classify(value);
    if (classified.kind === "invalid") this.#invalid(value, classified.id, classified.reason);
    else this.take(classified, relatedTo);
  }

  /** As `receive`, for a message that somebody has classified already. */
  take({ kind, message }: ClassifiedMessage, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    switch (kind) {
      case "response":
        this.#settle(message);
        return;
      case "notification":
        this.#notified(message.method, paramsOf(message), relatedTo);
        return;
      case "request":
        void this.#answer(message.id, message.method, paramsOf(message), relatedTo);
    }
  }

  #invalid(value: unknown, id: RpcId | null, reason: string): void {
    this.#handlers.stray?.(`invalid message: ${reason}`);
    if (isJsonObject(value) && value["method"] === undefined) {
      // A malformed answer must not be answered; it is all that will come for its request.
      const error = new McpError("MCP_INVALID_MESSAGE", `The answer is not valid: ${reason}`);
      if (id !== null) this.#waiters.get(id)?.reject(error);
      return;
    }
    // The id of a request that is being worked on is kept for its own answer.
    this.#refuse(id, invalidRequest(`Invalid request: ${reason}`));
  }

  /** Answer a request that no handler sees; without its id where that would answer another one. */
  #refuse(id: RpcId | null, error: McpError): void {
    const given = id !== null && this.#inbound.has(id) ? null : id;
    this.#outlet({ jsonrpc: "2.0", id: given, error: toRpcError(error) }, given ?? undefined);
  }

  /**
   * Ask the other side.
   *
   * @throws {McpError} `MCP_REMOTE_ERROR` with the other side's error,
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
        if (!this.#waiters.has(id)) return;
        finish();
        this.#cancelRemote(id, method, text, options.relatedTo);
        reject(reason);
      };
      const aborted = () => abandon(signal?.reason, reasonText(signal?.reason));
      const finish = () => {
        this.#waiters.delete(id);
        if (timer !== undefined) clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
      };
      this.#waiters.set(id, {
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
        this.#outlet({ jsonrpc: "2.0", id, method, params: sent }, options.relatedTo);
      } catch (error) {
        // Parameters that are no JSON; nothing was sent.
        this.#waiters.get(id)?.reject(error);
      }
    });
  }

  /** Tell the other side. `relatedTo` is its request that this belongs to. */
  notify(method: string, params: JsonObject, relatedTo?: RpcId): void {
    if (this.#closedBy !== undefined) return;
    this.#outlet({ jsonrpc: "2.0", method, params }, relatedTo);
  }

  /** A transport could not deliver our request `id`, or lost its answer. */
  fail(id: RpcId, error: unknown): void {
    this.#waiters.get(id)?.reject(error);
  }

  /**
   * End the conversation: the other side's requests are aborted, ours fail. Safe to repeat.
   *
   * @param error what later requests fail with, which were never sent.
   * @param inFlightError what requests fail with that were sent and not answered. @default error
   */
  close(error?: McpError, inFlightError?: McpError): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = error ?? new McpError("MCP_CONNECTION_CLOSED", "The connection was closed");
    for (const waiter of this.#waiters.values()) waiter.reject(inFlightError ?? this.#closedBy);
    for (const controller of this.#inbound.values()) controller.abort(this.#closedBy);
    for (const id of this.#inbound.ids()) this.#forget(id);
  }

  async #answer(id: RpcId, method: string, params: JsonObject, relatedTo: RpcId | undefined): Promise<void> {
    if (this.#inbound.has(id)) {
      this.#refuse(id, invalidRequest(`Request id ${JSON.stringify(id)} is already in use`));
      return;
    }
    if (this.#workCount >= this.#maxInbound) {
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
    this.#workCount += 1;
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
    this.#workCount -= 1;
    // A cancelled request has left the table and gets no answer (MCP, cancellation).
    if (this.#inbound.get(id) !== controller) return;
    try {
      this.#outlet(response, id);
    } catch (thrown) {
      // A result that is no JSON (a cycle, a BigInt): the request is answered all the same.
      this.#outlet({ jsonrpc: "2.0", id, error: toRpcError(thrown) }, id);
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
    const waiter =
      response.id === null || response.id === undefined ? undefined : this.#waiters.get(response.id);
    if (waiter === undefined) {
      this.#handlers.stray?.(`an answer with the unknown or used id ${JSON.stringify(response.id ?? null)}`);
      return;
    }
    // Some servers send both members, one of them null; an error object decides.
    if (!("error" in response && isJsonObject(response.error))) {
      waiter.resolve((response as { readonly result: JsonObject }).result);
      return;
    }
    const { code, message, data } = response.error;
    waiter.reject(
      new McpError("MCP_REMOTE_ERROR", typeof message === "string" ? message : "Unknown error", {
        rpcCode: typeof code === "number" ? code : rpcCodes.internalError,
        rpcData: data,
      }),
    );
  }

  #notified(method: string, params: JsonObject, relatedTo: RpcId | undefined): void {
    if (method === "notifications/progress") {
      const { progressToken, ...progress } = params;
      const waiter = this.#waiters.get(progressToken as RpcId);
      if (waiter?.options.onProgress !== undefined) waiter.options.onProgress(progress);
      else this.#handlers.stray?.(`progress for the unknown token ${JSON.stringify(progressToken ?? null)}`);
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
    const waiter = relatedTo === undefined ? undefined : this.#waiters.get(relatedTo);
    if (waiter?.options.onNotification !== undefined) waiter.options.onNotification(method, params);
    else this.#handlers.notification(method, params, relatedTo);
  }

  #cancelRemote(id: RpcId, method: string, reason: string, relatedTo: RpcId | undefined): void {
    // `initialize` must not be cancelled (MCP 2025-11-25, cancellation).
    if (this.#closedBy !== undefined || method === "initialize") return;
    this.#outlet(
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } },
      relatedTo,
    );
  }
}

/** `params` with our progress token or none: a token that came with them is somebody else's. */
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
