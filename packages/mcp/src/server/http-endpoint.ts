/**
 * Streamable HTTP on the server side, both eras at one URL. The era is decided
 * per request: a modern protocol version in the headers or in `_meta` selects
 * the modern era; every other request belongs to a legacy session.
 *
 * It never authenticates and never checks Host or Origin: its owner does, and
 * passes the caller.
 */

import { isJsonObject } from "@toolcrib/json";
import { LiveValues } from "@toolcrib/lifecycle";
import type { SessionStore } from "@toolcrib/store";
import { type Identity, identityKey } from "@toolcrib/tool";
import {
  type Classified,
  type ClassifiedMessage,
  classify,
  type RpcId,
  type RpcRequest,
} from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { modernVersionOf } from "../modern-version.ts";
import { eraOf, oldestModernVersion } from "../protocol.ts";
import { ClientCounts } from "./client-counts.ts";
import { FairTurns } from "./fair-turns.ts";
import {
  acceptedBy,
  type BodyLimits,
  defaultBodyMaxValues,
  defaultUnreadMaxBytes,
  type HttpCaller,
  holdValues,
  isJsonBody,
  overloaded,
  overQuota,
  parseBody,
  readBody,
  requireAccepted,
  sendError,
  sendJson,
  shuttingDown,
  waitAtMost,
} from "./http-io.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import type { AcceptedForms, HttpSession, PostedBody } from "./http-session.ts";
import { HttpSessions, sessionHeader } from "./http-sessions.ts";
import { answerModernHttp, checkModernHeaders, type ModernExchange } from "./modern-http.ts";
import { listenMethod, unsupportedVersion } from "./modern-request.ts";
import type { HeldBody } from "./request-bytes.ts";
import { ServerMemory } from "./server-memory.ts";
import type { McpService } from "./service.ts";

/** Dependencies of an endpoint. */
export interface HttpEndpointDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a new unguessable id for a session. */
  readonly newSessionId: () => string;
  /** The sessions as other gateways see them; every session of this endpoint is registered there. */
  readonly sessions: SessionStore;
  /** The memory of all clients of the process. @default that of the clients of this endpoint */
  readonly memory?: ServerMemory;
  /** Reports invalid messages and responses to no pending request; for the log. */
  readonly onUnexpected?: (reason: string) => void;
}

/** Limits of an endpoint. */
export interface HttpEndpointOptions {
  /** @default 4,194,304 */
  readonly bodyMaxBytes?: number;
  /** Deepest nesting of a body. @default 64 */
  readonly bodyMaxDepth?: number;
  /** Maximum number of values in a body. @default 250,000 */
  readonly bodyMaxValues?: number;
  /** Maximum number of open sessions; one client gets at most half of them. @default 1000 */
  readonly maxSessions?: number;
  /** Milliseconds without a request or a stream after which a session ends. @default 3,600,000 */
  readonly sessionIdleMs?: number;
  /** Maximum number of requests in flight in one session. @default 256 */
  readonly maxInFlightPerSession?: number;
  /** Maximum number of requests in flight in total, change streams not counted; one client gets at most half of them. @default 2048 */
  readonly maxInFlight?: number;
  /** Maximum number of open change streams (`subscriptions/listen`); one client gets at most half of them. @default 2,048 */
  readonly maxListeners?: number;
  /** Milliseconds between comments on open streams. @default 15,000 */
  readonly keepAliveMs?: number;
  /**
   * Unread bytes of an event stream past which a notification ends the
   * client's connection. @default 4,194,304
   */
  readonly unreadMaxBytes?: number;
}

/** A POST to a session, whose body was read. */
interface ReceivedPost {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The memory of the body. */
  readonly held: HeldBody;
  readonly session: HttpSession;
}

/** Longest wait of a disposal for requests that were aborted. */
const disposeWaitMs = 1000;

/** Serves Streamable HTTP to any number of clients and views. */
export class HttpEndpoint implements AsyncDisposable {
  readonly #service: McpService;
  readonly #onUnexpected: ((reason: string) => void) | undefined;
  readonly #sessions: HttpSessions;
  readonly #bodyLimits: BodyLimits;
  readonly #maxInFlight: number;
  readonly #maxListeners: number;
  readonly #memory: ServerMemory;
  readonly #turns: FairTurns;
  readonly #unreadMaxBytes: number;
  readonly #modernExchanges = new LiveValues<ModernExchange>();
  readonly #inFlight: ClientCounts;
  /** Open change streams. Clients hold them for hours, so they do not count towards the limit of requests. */
  readonly #listening: ClientCounts;
  readonly #housekeeping: NodeJS.Timeout;
  #isDraining = false;

  constructor(service: McpService, deps: HttpEndpointDeps, options: HttpEndpointOptions = {}) {
    const { now, newSessionId, onUnexpected } = deps;
    this.#service = service;
    this.#onUnexpected = onUnexpected;
    this.#bodyLimits = {
      maxLength: options.bodyMaxBytes ?? 4 * 1024 * 1024,
      maxDepth: options.bodyMaxDepth ?? 64,
      maxValues: options.bodyMaxValues ?? defaultBodyMaxValues,
    };
    this.#maxInFlight = options.maxInFlight ?? 2048;
    this.#maxListeners = options.maxListeners ?? 2048;
    this.#inFlight = new ClientCounts(this.#maxInFlight);
    this.#listening = new ClientCounts(this.#maxListeners);
    this.#memory = deps.memory ?? new ServerMemory();
    this.#turns = new FairTurns(now);
    this.#unreadMaxBytes = options.unreadMaxBytes ?? defaultUnreadMaxBytes;
    this.#sessions = new HttpSessions(
      {
        service,
        now,
        newSessionId,
        onUnexpected,
        inFlight: this.#inFlight,
        memory: this.#memory,
        store: deps.sessions,
      },
      {
        maxSessions: options.maxSessions ?? 1000,
        sessionIdleMs: options.sessionIdleMs ?? 3_600_000,
        maxInFlightPerSession: options.maxInFlightPerSession,
        unreadMaxBytes: this.#unreadMaxBytes,
      },
    );
    this.#housekeeping = setInterval(() => {
      this.#sessions.sweep();
      for (const exchange of this.#modernExchanges.all()) exchange.keepAlive();
    }, options.keepAliveMs ?? 15_000);
    this.#housekeeping.unref();
  }

  /** Answers one HTTP request; never rejects. */
  async handle(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    try {
      if (request.method === "POST") await this.#post(request, response, caller);
      else if (request.method === "GET") await this.#get(request, response, caller);
      else if (request.method === "DELETE") await this.#delete(request, response, caller);
      else throw methodNotAllowed();
    } catch (error) {
      const status = error instanceof McpError ? error.httpStatus : undefined;
      if (status === undefined)
        this.#onUnexpected?.(`HTTP request failed: ${(error as Error).stack ?? String(error)}`);
      if (error instanceof McpError) sendError(response, error, null, headersFor(status));
      else sendJson(response, 500, JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(error) }));
    }
  }

  /** Ends the sessions of some identities, with their requests in flight. */
  endSessionsOf(isEnded: (identity: Identity) => boolean, reason: string): void {
    this.#sessions.endOf(isEnded, reason);
  }

  /** Returns the number of sessions, requests in flight and change streams, for metrics. */
  stats(): { readonly sessions: number; readonly inFlight: number; readonly listeners: number } {
    return {
      sessions: this.#sessions.size,
      inFlight: this.#inFlight.count,
      listeners: this.#listening.count,
    };
  }

  /** Refuses new requests and waits until every request in flight is answered, at most `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    // Change streams have no response to wait for; they end now, with a result.
    for (const exchange of this.#modernExchanges.all()) {
      if (exchange.method === listenMethod) exchange.abort(shuttingDown());
    }
    await waitAtMost(this.#idle(), graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#housekeeping);
    for (const exchange of this.#modernExchanges.all()) exchange.abort(shuttingDown());
    this.#sessions.endAll("The gateway is shutting down");
    // Handlers that respect their signal answer now. The others are not awaited any longer.
    await waitAtMost(Promise.all([this.#idle(), this.#sessions.settled()]), disposeWaitMs);
  }

  #idle(): Promise<unknown> {
    return Promise.all([this.#inFlight.idle(), this.#listening.idle()]);
  }

  async #post(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    if (!isJsonBody(request)) {
      const given = request.headers["content-type"] ?? "";
      throw invalidRequest(`Content-Type must be application/json, not "${given}"`, undefined, 415);
    }
    const accepts = acceptedBy(request);
    if (!accepts.json && !accepts.events) {
      throw invalidRequest("Accept must list application/json and text/event-stream", undefined, 406);
    }
    const client = identityKey(caller.identity);
    const turn = this.#turns.enter(client);
    if (turn !== undefined) await turn;
    // The memory of the body is free when its last request is answered, or now if it holds none.
    using held = this.#memory.holdBody(client);
    const read = readBody(request, this.#bodyLimits.maxLength, held);
    const body = typeof read === "string" ? read : await read;
    if (typeof read !== "string") requireAccepted(caller);
    const value = parseBody(body, this.#bodyLimits);
    holdValues(body, held);
    const isBatch = Array.isArray(value);
    const classified = isBatch ? value.map(classify) : [classify(value)];
    const first = classified.find(isRequest)?.message;
    const refusal = first === undefined ? undefined : this.#refusalOf(first.method, client);
    if (refusal !== undefined) {
      const id = first === undefined || isBatch ? null : first.id;
      sendError(response, refusal, id, headersFor(503));
      return;
    }
    if (isModernRequest(request, value)) {
      await this.#postModern(request, response, caller, isBatch ? undefined : classified[0], accepts);
    } else if (first?.method === "initialize") this.#postInitialize(response, caller, isBatch, first);
    else {
      const found = this.#sessions.find(request, caller);
      const session = found instanceof Promise ? await found : found;
      const post = { request, response, held, session };
      this.#postToSession(post, isBatch ? value : undefined, classified, accepts);
    }
  }

  /** Returns the reason why a request of `method` is refused; undefined if it is accepted. */
  #refusalOf(method: string, client: string): McpError | undefined {
    if (this.#isDraining) return shuttingDown();
    const isListen = method === listenMethod;
    const refusal = (isListen ? this.#listening : this.#inFlight).refusalFor(client);
    if (refusal === undefined) return undefined;
    if (isListen) return refusal === "share" ? overQuota("streams of changes") : this.#tooMany();
    if (refusal === "full") return overloaded(`More than ${this.#maxInFlight} requests are in flight`);
    const text = `This client has used up its share of the ${this.#maxInFlight} requests in flight`;
    const hint = "wait for answers before sending more";
    return new McpError("MCP_SHARE_EXCEEDED", text, { httpStatus: 503, hint });
  }

  #tooMany(): McpError {
    return overloaded(`More than ${this.#maxListeners} streams of changes are open`);
  }

  #postInitialize(response: HttpResponse, caller: HttpCaller, isBatch: boolean, message: RpcRequest): void {
    if (isBatch) throw invalidRequest('"initialize" cannot be part of a batch', undefined, 400);
    const session = this.#sessions.open(caller);
    const body = { messages: [{ kind: "request", message }], requests: [message], isBatch } as const;
    session.post(body, response, { json: true, events: false });
    // A refused handshake is answered at once, and leaves no session.
    setImmediate(() => {
      const { id, isOpen } = session.session;
      if (!isOpen) this.#sessions.end(id, "The handshake failed");
    });
  }

  #postToSession(
    { request, response, held, session }: ReceivedPost,
    batch: readonly unknown[] | undefined,
    classified: readonly Classified[],
    accepts: AcceptedForms,
  ): void {
    checkVersionHeader(request);
    if (batch !== undefined) session.session.checkBatch(batch);
    const body = toBody(classified, batch !== undefined);
    if (body.requests.length === 0) {
      for (const message of body.messages) session.session.router.receiveClassified(message);
      response.writeHead(202, { "content-length": 0 }).end();
      return;
    }
    const reused = reusedId(session, body.requests);
    if (reused !== undefined) {
      throw invalidRequest(`Request id ${JSON.stringify(reused)} is already in use`, undefined, 400);
    }
    session.post({ ...body, held: held.move() }, response, accepts);
  }

  async #postModern(
    request: HttpRequest,
    response: HttpResponse,
    caller: HttpCaller,
    classified: Classified | undefined,
    accepts: AcceptedForms,
  ): Promise<void> {
    if (classified?.kind === "notification") {
      response.writeHead(202, { "content-length": 0 }).end();
      return;
    }
    if (classified?.kind === "invalid")
      throw invalidRequest(`Invalid request: ${classified.reason}`, undefined, 400);
    if (classified?.kind !== "request") {
      throw invalidRequest("The body must be one JSON-RPC request or notification", undefined, 400);
    }
    const { message } = classified;
    try {
      checkModernHeaders(this.#service, request.headers, message, caller);
    } catch (error) {
      sendError(response, error, message.id);
      return;
    }
    const counter = message.method === listenMethod ? this.#listening : this.#inFlight;
    const client = identityKey(caller.identity);
    counter.enter(client);
    try {
      const context = {
        ...caller,
        accepts,
        client,
        unread: this.#memory.unread,
        unreadMaxBytes: this.#unreadMaxBytes,
        exchanges: this.#modernExchanges,
      };
      await answerModernHttp(this.#service, message, response, context);
    } finally {
      counter.leave(client);
    }
  }

  async #get(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    if (!acceptedBy(request).events)
      throw invalidRequest("Accept must list text/event-stream", undefined, 406);
    if (request.headers[sessionHeader] === undefined) throw methodNotAllowed();
    const session = await this.#sessions.find(request, caller);
    // The client can have left while an earlier session was read.
    if (response.destroyed) return;
    const lastEventId = request.headers["last-event-id"];
    session.get(response, typeof lastEventId === "string" ? lastEventId : undefined);
  }

  async #delete(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    if (request.headers[sessionHeader] === undefined) throw methodNotAllowed();
    const { session } = await this.#sessions.find(request, caller);
    this.#sessions.end(session.id, "The client ended the session");
    response.writeHead(204).end();
  }
}

/** Headers of a response to a request that was not begun: with status 503, `Retry-After` says that. */
function headersFor(status: number | undefined): { readonly [name: string]: string } {
  if (status === 405) return { allow: "GET, POST, DELETE" };
  return status === 503 ? { "retry-after": "1" } : {};
}

function methodNotAllowed(): McpError {
  return invalidRequest("Method not allowed", undefined, 405);
}

function isRequest(one: Classified): one is ClassifiedMessage & { readonly kind: "request" } {
  return one.kind === "request";
}

/**
 * Returns the messages of a body. Members of a batch that are no messages are answered on their own, as JSON-RPC 2.0
 * demands; without a request among the others nothing would carry these answers.
 *
 * @throws {McpError} with status 400 if a value is not a message.
 */
function toBody(classified: readonly Classified[], isBatch: boolean): PostedBody {
  const messages: ClassifiedMessage[] = [];
  const requests: RpcRequest[] = [];
  const refusals: string[] = [];
  let refusal: McpError | undefined;
  for (const one of classified) {
    if (one.kind === "invalid") {
      refusal = invalidRequest(`Invalid request: ${one.reason}`, undefined, 400);
      // An id that is in use belongs to the answer of another request.
      refusals.push(JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(refusal) }));
      continue;
    }
    messages.push(one);
    if (one.kind === "request") requests.push(one.message);
  }
  if (refusal !== undefined && requests.length === 0) throw refusal;
  return { messages, requests, isBatch, refusals };
}

/** Returns the first id that is in use in `session` or occurs twice. */
function reusedId(session: HttpSession, requests: readonly RpcRequest[]): RpcId | undefined {
  const [first] = requests;
  if (requests.length === 1) return first !== undefined && session.isOpen(first.id) ? first.id : undefined;
  const seen = new Set<RpcId>();
  return requests.find(({ id }) => session.isOpen(id) || seen.size === seen.add(id).size)?.id;
}

function isModernRequest(request: HttpRequest, value: unknown): boolean {
  const header = request.headers["mcp-protocol-version"];
  // A later revision is answered in the modern form, which names the supported ones.
  if (typeof header === "string" && /^\d{4}-\d\d-\d\d$/.test(header) && header >= oldestModernVersion)
    return true;
  if (!isJsonObject(value) || !isJsonObject(value["params"])) return false;
  return modernVersionOf(value["params"]) !== undefined;
}

/** A legacy request may omit the header; an unsupported version is refused (2025-06-18, transports). */
function checkVersionHeader(request: HttpRequest): void {
  const version = request.headers["mcp-protocol-version"];
  if (typeof version === "string" && eraOf(version) === undefined) throw unsupportedVersion(version);
}
