/**
 * One connection of an echo server: a process's stdin and stdout, an HTTP
 * session, or (2026-07-28 over HTTP) a single request. It gets parsed messages and
 * returns responses; the response of a synchronous tool is sent in the same turn of
 * the event loop.
 *
 * It has no transport, and does not validate arguments against schemas: valid
 * arguments are the responsibility of the client under test.
 */

import { setMaxListeners } from "node:events";
import { answerContent, isOffered } from "./content.ts";
import type { EchoChange, EchoServer } from "./echo-server.ts";
import { stringOf } from "./echo-tool.ts";
import { EchoToolCall, InputRequired } from "./echo-tool-call.ts";
import {
  failureOf,
  isJsonObject,
  type JsonObject,
  type JsonRpcId,
  type JsonRpcMessage,
  notificationOf,
  RpcFailure,
  resultOf,
} from "./json-rpc.ts";
import { checkRequestMeta, isModernMessage, metaKeys, modernVersion, toModernResult } from "./modern-era.ts";

/** The output of a connection. `relatedTo` is the request that a message belongs to, for transports with several streams. */
export interface Outlet {
  send(message: JsonRpcMessage, relatedTo?: JsonRpcId): void;
  /** Writes text in place of a message. */
  writeText(text: string, relatedTo: JsonRpcId): void;
  /** Breaks the connection or the response stream of `relatedTo`. */
  breakOff(relatedTo: JsonRpcId): void;
  /** Drops the session (HTTP); has no effect on other transports. */
  expireSession(): void;
  readonly headers?: { readonly [name: string]: string | string[] | undefined };
}

export class EchoConnection {
  readonly #server: EchoServer;
  readonly #outlet: Outlet;
  readonly #watched = new Set<string>();
  /** Open `subscriptions/listen` requests with their filters. */
  readonly #listeners = new Map<JsonRpcId, JsonObject>();
  /** Abort controllers of the calls that use their signal. */
  readonly #cancellable = new Map<JsonRpcId, AbortController>();
  /** Requests to the client that have no response yet. */
  readonly #asked = new Map<JsonRpcId, (answer: JsonRpcMessage) => void>();
  #askedCount = 0;
  #isInitialized = false;
  #logLevel = "debug";

  constructor(server: EchoServer, outlet: Outlet) {
    this.#server = server;
    this.#outlet = outlet;
    server.connections.add(this);
  }

  /** Processes one message of the client. */
  receive(message: JsonRpcMessage): void {
    this.#server.record(message);
    const { id, method } = message;
    if (method === undefined) {
      if (id === undefined || id === null) return;
      this.#asked.get(id)?.(message);
      this.#asked.delete(id);
    } else if (id === undefined || id === null) this.#notified(method, message.params ?? {});
    else this.#answer(id, method, message);
  }

  /** Notifies the client of a change if it is subscribed to it. */
  announce(change: EchoChange): void {
    const method =
      change.kind === "resourceUpdated"
        ? "notifications/resources/updated"
        : "notifications/tools/list_changed";
    const params: JsonObject = change.kind === "resourceUpdated" ? { uri: change.uri } : {};
    for (const [id, filter] of this.#listeners) {
      const isWanted =
        change.kind === "resourceUpdated"
          ? Array.isArray(filter["resourceSubscriptions"]) &&
            filter["resourceSubscriptions"].includes(change.uri)
          : filter["toolsListChanged"] === true;
      if (isWanted) {
        this.#outlet.send(
          notificationOf(method, { ...params, _meta: { [metaKeys.subscriptionId]: id } }),
          id,
        );
      }
    }
    if (!this.#isInitialized || (change.kind === "resourceUpdated" && !this.#watched.has(change.uri))) return;
    this.#outlet.send(notificationOf(method, params));
  }

  /** Cancels all requests in flight; they get no response. */
  close(): void {
    this.#server.connections.delete(this);
    this.#listeners.clear();
    for (const id of this.#cancellable.keys()) this.#abort(id);
  }

  /** Cancels one request, as `notifications/cancelled` does. */
  cancel(id: JsonRpcId): void {
    this.#listeners.delete(id);
    this.#abort(id);
  }

  /** Returns the signal of request `id`. Created on first use, because most calls do not need it. */
  signalOf(id: JsonRpcId): AbortSignal {
    const controller = this.#cancellable.get(id) ?? new AbortController();
    if (!this.#cancellable.has(id)) {
      // A tool can add a listener at each of many steps.
      setMaxListeners(0, controller.signal);
      this.#cancellable.set(id, controller);
    }
    return controller.signal;
  }

  /** Sends a request to the client and returns its response. */
  ask(method: string, params: JsonObject, relatedTo: JsonRpcId): Promise<JsonObject> {
    this.#askedCount += 1;
    // Small numbers, which the client uses for its own requests too: a gateway must not confuse them.
    const id = this.#askedCount;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result ?? {});
        else reject(new RpcFailure(error.code, error.message, error.data));
      });
      this.#outlet.send({ jsonrpc: "2.0", id, method, params }, relatedTo);
    });
  }

  get logLevel(): string {
    return this.#logLevel;
  }

  #abort(id: JsonRpcId): void {
    const controller = this.#cancellable.get(id);
    if (controller === undefined || controller.signal.aborted) return;
    this.#server.cancelledCount += 1;
    controller.abort(new Error("Cancelled"));
  }

  #notified(method: string, params: JsonObject): void {
    const requestId = params["requestId"];
    if (
      method === "notifications/cancelled" &&
      (typeof requestId === "string" || typeof requestId === "number")
    ) {
      this.cancel(requestId);
    }
  }

  #answer(id: JsonRpcId, method: string, message: JsonRpcMessage): void {
    let answer: JsonObject | Promise<JsonObject> | undefined;
    let isModern = false;
    try {
      isModern = this.#server.isModern && (isModernMessage(message) || !this.#server.isLegacy);
      if (isModern) checkRequestMeta(message, [modernVersion]);
      answer = this.#dispatch(id, method, message.params ?? {}, isModern);
    } catch (thrown) {
      this.#sendFailure(id, method, thrown, isModern);
      return;
    }
    if (answer === undefined) return;
    if (!(answer instanceof Promise)) {
      this.#sendResult(id, method, answer, isModern);
      return;
    }
    answer.then(
      (result) => this.#sendResult(id, method, result, isModern),
      (thrown: unknown) => this.#sendFailure(id, method, thrown, isModern),
    );
  }

  #sendResult(id: JsonRpcId, method: string, result: JsonObject, isModern: boolean): void {
    const finished = isModern ? toModernResult(method, result, this.#server.serverInfo) : result;
    this.#finish(id, resultOf(id, finished));
  }

  #sendFailure(id: JsonRpcId, method: string, thrown: unknown, isModern: boolean): void {
    if (thrown instanceof InputRequired) this.#sendResult(id, method, thrown.result, isModern);
    else this.#finish(id, failureOf(id, thrown));
  }

  /** Sends the response to a request, unless it was cancelled. */
  #finish(id: JsonRpcId, answer: JsonRpcMessage): void {
    const wasCancelled = this.#cancellable.get(id)?.signal.aborted === true;
    this.#cancellable.delete(id);
    if (!wasCancelled) this.#outlet.send(answer, id);
  }

  /** Returns the result of a request, or undefined if it gets no response. */
  #dispatch(
    id: JsonRpcId,
    method: string,
    params: JsonObject,
    isModern: boolean,
  ): JsonObject | Promise<JsonObject> | undefined {
    if (method === "tools/call") return this.#callTool(id, params, isModern);
    if (isModern) {
      if (method === "server/discover") return this.#discover();
      if (method === "subscriptions/listen") return this.#listen(id, params);
    } else if (method === "initialize") return this.#initialize(params);
    const result = isModern ? undefined : this.#answerSession(method, params);
    if (result !== undefined) return result;
    const content = answerContent(this.#server, method, params, isModern);
    if (content === undefined) throw new RpcFailure(-32601, `Method not found: ${method}`);
    return content;
  }

  /** Handles requests about the session itself, which 2026-07-28 does not have. */
  #answerSession(method: string, params: JsonObject): JsonObject | undefined {
    if (!isOffered(this.#server, method)) return undefined;
    if (method === "logging/setLevel") this.#logLevel = stringOf(params, "level", "debug");
    else if (method === "resources/subscribe") this.#watched.add(stringOf(params, "uri", ""));
    else if (method === "resources/unsubscribe") this.#watched.delete(stringOf(params, "uri", ""));
    else if (method !== "ping") return undefined;
    return {};
  }

  #callTool(id: JsonRpcId, params: JsonObject, isModern: boolean): JsonObject | Promise<JsonObject> {
    const name = stringOf(params, "name", "");
    const tool = this.#server.tools.get(name);
    if (tool === undefined) throw new RpcFailure(-32602, `Unknown tool: ${name}`);
    const given = isJsonObject(params["arguments"]) ? params["arguments"] : {};
    return tool.call(given, new EchoToolCall(this.#server, this, this.#outlet, id, params, isModern));
  }

  #initialize(params: JsonObject): JsonObject | undefined {
    if (this.#server.options.hangInitialize === true) return undefined;
    const requested = stringOf(params, "protocolVersion", "");
    const spoken = this.#server.versions.filter((version) => version !== modernVersion);
    this.#isInitialized = true;
    return {
      protocolVersion: spoken.includes(requested) ? requested : spoken.at(-1),
      capabilities: this.#server.describeCapabilities(),
      serverInfo: this.#server.serverInfo,
      ...this.#instructions(),
    };
  }

  #discover(): JsonObject | undefined {
    if (this.#server.options.hangInitialize === true) return undefined;
    return {
      supportedVersions: [modernVersion],
      capabilities: this.#server.describeCapabilities(),
      ...this.#instructions(),
    };
  }

  /** Opens a subscription. Its response is sent at its end; here, only the client ends it. */
  #listen(id: JsonRpcId, params: JsonObject): undefined {
    const filter = isJsonObject(params["notifications"]) ? params["notifications"] : {};
    this.#listeners.set(id, filter);
    const _meta = { [metaKeys.subscriptionId]: id };
    const acknowledged = notificationOf("notifications/subscriptions/acknowledged", {
      notifications: filter,
      _meta,
    });
    this.#outlet.send(acknowledged, id);
    return undefined;
  }

  #instructions(): JsonObject {
    const { instructions } = this.#server.options;
    return instructions === undefined ? {} : { instructions };
  }
}
