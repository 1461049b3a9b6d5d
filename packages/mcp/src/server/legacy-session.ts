/**
 * The legacy era on the server side (2024-11-05 to 2025-11-25): handshake,
 * ping, log level, and the state of a session. Independent of the transport,
 * which passes received messages and a function that sends.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { SessionRecord } from "@toolcrib/store";
import type { ClientInfo, Identity, Unsubscribe } from "@toolcrib/tool";
import { metaOf, type RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { type InboundRequest, MessageRouter, type SendMessage } from "../message-router.ts";
import { latestLegacyVersion, legacyVersions, logLevels, passesLogLevel, rpcCodes } from "../protocol.ts";
import { progressTokenOf } from "./progress-token.ts";
import type { McpService, ServerSession, ServiceRequest, TraceHeaders, View } from "./service.ts";

/** Options of a `LegacySession`. */
export interface LegacySessionOptions {
  readonly id: string;
  readonly identity: Identity;
  readonly view: View;
  /** Maximum number of requests of the client in flight at once. @default 256 */
  readonly maxInFlight?: number;
  /** Milliseconds that the client has to answer a request (sampling, elicitation, roots). @default 600,000 */
  readonly askTimeoutMs?: number;
  /** Reports that the client cancelled its request: no response is sent. */
  readonly onCancelled?: (id: RpcId) => void;
  /** Returns the trace context of the HTTP request with a request of the client. @default none */
  readonly traceOf?: (id: RpcId) => TraceHeaders | undefined;
  /** Reports invalid messages and responses to no pending request; for the log. */
  readonly onUnexpected?: (reason: string) => void;
  /** Called when the handshake succeeded; it is answered when the promise resolves. Never rejects. */
  readonly onOpened?: () => Promise<void>;
  /** Called when the client changed what a continued session needs: its log level or its subscriptions. */
  readonly onChanged?: () => void;
  /** The session of an earlier run that this one continues. @default it begins with a handshake */
  readonly continues?: ContinuedSession | undefined;
}

/** The state that a session of an earlier run of the gateway agreed with its client. */
export interface ContinuedSession
  extends Pick<
    SessionRecord,
    "protocolVersion" | "clientInfo" | "capabilities" | "logLevel" | "subscriptions"
  > {
  /** A number above the ids of all requests that earlier runs sent. */
  readonly lastRequestId: number;
}

/** The capability that a client must declare to receive a request, by method. */
export const capabilityFor: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

export class LegacySession implements ServerSession {
  readonly id: string;
  readonly identity: Identity;
  readonly view: View;
  readonly router: MessageRouter;
  readonly #service: McpService;
  readonly #send: SendMessage;
  readonly #maxInFlight: number;
  readonly #askTimeoutMs: number;
  readonly #traceOf: LegacySessionOptions["traceOf"];
  readonly #closing = new AbortController();
  readonly #rootsListeners = new Set<() => void>();
  readonly #onOpened: LegacySessionOptions["onOpened"];
  readonly #onChanged: LegacySessionOptions["onChanged"];
  readonly #subscriptions = new Set<string>();
  protocolVersion: string = latestLegacyVersion;
  clientInfo: ClientInfo | undefined;
  capabilities: JsonObject = {};
  logLevel: string | undefined;
  #state: "new" | "open" | "closed" = "new";

  constructor(service: McpService, send: SendMessage, options: LegacySessionOptions) {
    this.id = options.id;
    this.identity = options.identity;
    this.view = options.view;
    this.#service = service;
    this.#send = send;
    this.#maxInFlight = options.maxInFlight ?? 256;
    this.#askTimeoutMs = options.askTimeoutMs ?? 600_000;
    this.#traceOf = options.traceOf;
    this.#onOpened = options.onOpened;
    this.#onChanged = options.onChanged;
    const { continues } = options;
    if (continues !== undefined) this.#continue(continues);
    this.router = new MessageRouter(
      send,
      {
        request: (request) => this.#request(request),
        cancelled: (id) => options.onCancelled?.(id),
        notification: (method) => this.#notification(method),
        unexpected: (reason) => options.onUnexpected?.(reason),
      },
      { maxInbound: this.#maxInFlight, ...(continues && { lastId: continues.lastRequestId }) },
    );
  }

  /** The resources that the client subscribed to, up to a limit of their length. */
  get subscriptions(): readonly string[] {
    return [...this.#subscriptions];
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /**
   * Checks that `batch` is allowed: batches exist up to 2025-03-26.
   *
   * @throws {McpError} -32600 with status 400.
   */
  checkBatch(batch: readonly unknown[]): void {
    const isAllowed = this.protocolVersion === "2025-03-26" || this.protocolVersion === "2024-11-05";
    if (!isAllowed || !this.isOpen)
      throw invalidRequest("Batches are not part of this protocol revision", undefined, 400);
    if (batch.length === 0) throw invalidRequest("The batch is empty", undefined, 400);
    if (batch.length > this.#maxInFlight)
      throw invalidRequest(`The batch has more than ${this.#maxInFlight} messages`, undefined, 400);
  }

  /** Processes one parsed message, or a batch if the revision allows it. */
  receive(value: unknown): void {
    if (!Array.isArray(value)) {
      this.router.receive(value);
      return;
    }
    try {
      this.checkBatch(value);
    } catch (error) {
      if (this.#state !== "closed")
        this.#send({ jsonrpc: "2.0", id: null, error: toRpcError(error) }, undefined);
      return;
    }
    for (const message of value) this.router.receive(message);
  }

  notify(method: string, params: JsonObject): void {
    if (method !== "notifications/message" || this.#wantsLog(params)) this.router.notify(method, params);
  }

  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    return this.#ask(method, params, signal, undefined);
  }

  onRootsChanged(listener: () => void): Unsubscribe {
    this.#rootsListeners.add(listener);
    return () => void this.#rootsListeners.delete(listener);
  }

  /** Ends the session. Safe to repeat. */
  close(reason = "The session was closed"): void {
    if (this.#state === "closed") return;
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    const error = new McpError("MCP_CONNECTION_CLOSED", reason);
    this.router.close(error);
    this.#closing.abort(error);
    if (wasOpen) this.#service.sessionClosed(this);
  }

  async #request(request: InboundRequest): Promise<JsonObject> {
    const { method, params } = request;
    if (method === "ping") return {};
    if (method === "initialize") {
      const result = this.#initialize(params);
      await this.#onOpened?.();
      return result;
    }
    if (this.#state !== "open") {
      throw invalidRequest(`Cannot answer "${method}" before "initialize"`);
    }
    if (method === "logging/setLevel") return this.#setLogLevel(params);
    const token = progressTokenOf(metaOf(params));
    const wantsProgress = token !== undefined;
    const { id, signal } = request;
    // After the answer there is no stream for messages of this request.
    let isAnswered = false;
    const notify = (name: string, notification: JsonObject) => {
      if (name === "notifications/message" && !this.#wantsLog(notification)) return;
      if (!signal.aborted && !isAnswered) this.router.notify(name, notification, id);
    };
    const serviceRequest: ServiceRequest = {
      method,
      params,
      identity: this.identity,
      view: this.view,
      era: "legacy",
      session: this,
      clientInfo: this.clientInfo as JsonObject | undefined,
      clientCapabilities: this.capabilities,
      signal,
      wantsProgress,
      httpTrace: this.#traceOf?.(id),
      progress: (progress) => {
        if (wantsProgress) notify("notifications/progress", { ...progress, progressToken: token });
      },
      notify,
      ask: (name, question, askSignal) => this.#ask(name, question, askSignal, isAnswered ? undefined : id),
    };
    try {
      const result = await this.#service.handle(serviceRequest);
      if (subscribing.has(method)) this.#subscribed(method, params["uri"]);
      return toLegacyResult(result);
    } finally {
      isAnswered = true;
    }
  }

  #initialize(params: JsonObject): JsonObject {
    if (this.#state !== "new") throw invalidRequest("The session is already initialized");
    const asked = params["protocolVersion"];
    if (typeof asked !== "string") {
      throw invalidRequest('"initialize" needs a "protocolVersion" string', rpcCodes.invalidParams);
    }
    const isKnown = (legacyVersions as readonly string[]).includes(asked);
    this.protocolVersion = isKnown ? asked : latestLegacyVersion;
    for (const name of ["capabilities", "clientInfo"]) checkSize(name, params[name]);
    if (isJsonObject(params["capabilities"])) this.capabilities = params["capabilities"];
    if (isJsonObject(params["clientInfo"])) this.clientInfo = params["clientInfo"] as unknown as ClientInfo;
    this.#state = "open";
    this.#service.sessionOpened(this);
    const instructions = this.#service.instructions(this.view, this.identity);
    return {
      protocolVersion: this.protocolVersion,
      capabilities: this.#service.capabilities(this.view, this.identity, "legacy"),
      serverInfo: this.#service.serverInfo as unknown as JsonObject,
      ...(instructions === undefined ? undefined : { instructions }),
    };
  }

  /** Continues a session of an earlier run; its owner reports it to the service. */
  #continue({ protocolVersion, clientInfo, capabilities, logLevel, subscriptions }: ContinuedSession): void {
    this.protocolVersion = protocolVersion;
    this.clientInfo = clientInfo as unknown as ClientInfo | undefined;
    this.capabilities = capabilities;
    this.logLevel = logLevel;
    for (const uri of subscriptions ?? []) this.#subscriptions.add(uri);
    this.#state = "open";
  }

  /** Records that `method` subscribed to a resource or ended a subscription. */
  #subscribed(method: string, uri: unknown): void {
    if (this.#onChanged === undefined || typeof uri !== "string") return;
    const count = this.#subscriptions.size;
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    else if (lengthOf(this.#subscriptions) + uri.length <= keptMaxLength) this.#subscriptions.add(uri);
    if (this.#subscriptions.size !== count) this.#onChanged();
  }

  #setLogLevel(params: JsonObject): JsonObject {
    const level = params["level"];
    if (typeof level !== "string" || !(logLevels as readonly string[]).includes(level)) {
      throw invalidRequest(`Unknown log level; allowed are ${logLevels.join(", ")}`, rpcCodes.invalidParams);
    }
    const isChanged = this.logLevel !== level;
    this.logLevel = level;
    if (isChanged) this.#onChanged?.();
    return {};
  }

  #wantsLog(notification: JsonObject): boolean {
    return this.logLevel === undefined || passesLogLevel(notification["level"], this.logLevel);
  }

  #notification(method: string): void {
    if (method !== "notifications/roots/list_changed" || this.#state !== "open") return;
    for (const listener of this.#rootsListeners) listener();
  }

  #ask(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    relatedTo: RpcId | undefined,
  ): Promise<JsonObject> {
    const capability = capabilityFor[method];
    if (capability !== undefined && !isJsonObject(this.capabilities[capability])) {
      return Promise.reject(clientCapabilityMissing(capability));
    }
    if (params["mode"] === "url" && !acceptsPages(this.capabilities)) {
      return Promise.reject(clientCapabilityMissing("elicitation.url"));
    }
    return this.router.request(method, params, { signal, timeoutMs: this.#askTimeoutMs, relatedTo });
  }
}

/** Whether a client takes elicitations with a page to visit; one that declares no mode takes forms only (2025-11-25). */
function acceptsPages({ elicitation }: JsonObject): boolean {
  return isJsonObject(elicitation) && elicitation["url"] !== undefined;
}

/** Creates the error for a client that did not declare the capability for a request. */
function clientCapabilityMissing(capability: string): McpError {
  return new McpError(
    "MCP_CLIENT_CAPABILITY_MISSING",
    `The client that made this call does not support ${capability}`,
    {
      rpcCode: rpcCodes.invalidRequest,
      hint: `use a client that declares the capability "${capability}"`,
    },
  );
}

/**
 * Removes structured content that is not an object: before revision 2026-07-28, clients refuse such results. Without
 * other content, it becomes text.
 */
function toLegacyResult(result: JsonObject): JsonObject {
  // An invalid result is left for the client to refuse.
  const content = isJsonObject(result) ? result["structuredContent"] : undefined;
  if (content === undefined || isJsonObject(content)) return result;
  const { structuredContent: _, ...rest } = result;
  const { content: others } = rest;
  if (Array.isArray(others) && others.length > 0) return rest;
  return { ...rest, content: [{ type: "text", text: JSON.stringify(content) }] };
}

/** Longest text of each part that a session keeps of its client, in UTF-16 units. @limit client */
const keptMaxLength = 16 * 1024;

/** Methods that change the subscriptions of a session. */
const subscribing: ReadonlySet<string> = new Set(["resources/subscribe", "resources/unsubscribe"]);

function lengthOf(texts: ReadonlySet<string>): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}

/** Checks a member of the handshake that the session keeps. @throws {McpError} -32602 */
function checkSize(name: string, value: unknown): void {
  if (value === undefined || JSON.stringify(value).length <= keptMaxLength) return;
  throw invalidRequest(
    `"${name}" of "initialize" is longer than ${keptMaxLength} characters`,
    rpcCodes.invalidParams,
  );
}
