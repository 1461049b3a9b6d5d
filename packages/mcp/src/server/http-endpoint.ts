/**
 * Streamable HTTP on the server edge, both eras on one URL. The era is decided
 * per request: a modern protocol version in the headers or in `_meta` makes it
 * modern; everything else belongs to a legacy session.
 *
 * It never authenticates and never looks at Host or Origin: its owner does
 * that first and says who calls. A session is bound to the identity and the
 * view that opened it; for anyone else it does not exist.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject } from "@toolcrib/json";
import { identityKey, isSameIdentity } from "@toolcrib/tool";
import {
  type Classified,
  type ClassifiedMessage,
  classify,
  paramsOf,
  type RpcId,
  type RpcRequest,
} from "../json-rpc.ts";
import { headerMismatch, invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { checkMirroredHeaders } from "../mirrored-headers.ts";
import { modernVersionOf } from "../modern-version.ts";
import { eraOf, latestModernVersion, rpcCodes } from "../protocol.ts";
import {
  acceptedBy,
  defaultUnreadMaxBytes,
  type HttpCaller,
  isJsonBody,
  parseBody,
  readBody,
  sendError,
  sendJson,
  untilZero,
} from "./http-io.ts";
import { type AcceptedForms, HttpSession, type PostedBody } from "./http-session.ts";
import { answerModernHttp, type ModernExchange } from "./modern-http.ts";
import { listenMethod, unsupportedVersion } from "./modern-request.ts";
import type { McpService } from "./service.ts";

/** What an endpoint needs from outside. */
export interface HttpEndpointDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new unguessable id for a session. */
  readonly newSessionId: () => string;
  /** For the log: what fits nowhere. */
  readonly onStray?: (reason: string) => void;
}

/** Limits of an endpoint. */
export interface HttpEndpointOptions {
  /** @default 4,194,304 */
  readonly bodyMaxBytes?: number;
  /** Deepest nesting of a body. @default 64 */
  readonly bodyMaxDepth?: number;
  /** Most sessions at once. @default 1000 */
  readonly maxSessions?: number;
  /** Milliseconds without a request or a stream after which a session ends. @default 3,600,000 */
  readonly sessionIdleMs?: number;
  /** Most requests in flight in one session. @default 256 */
  readonly maxInFlightPerSession?: number;
  /** Most requests in flight in all, streams of changes not counted. @default 2048 */
  readonly maxInFlight?: number;
  /** Most streams of changes (`subscriptions/listen`) at once. @default 4,096 */
  readonly maxListeners?: number;
  /** Milliseconds between comments on open streams. @default 15,000 */
  readonly keepAliveMs?: number;
  /**
   * Bytes of an event stream that may wait for its client to read them. When a
   * notification finds more waiting, the connection is cut. @default 4,194,304
   */
  readonly unreadMaxBytes?: number;
}

/** Streamable HTTP for any number of views and clients. */
export interface HttpEndpoint extends AsyncDisposable {
  /** Answer one HTTP request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): Promise<void>;
  /** Sessions, requests in flight and streams of changes, for metrics. */
  stats(): { readonly sessions: number; readonly inFlight: number; readonly listeners: number };
  /** Refuse new work and wait until everything in flight is answered, at most `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

const sessionHeader = "mcp-session-id";

/** Create an endpoint for `service`. */
export function createHttpEndpoint(
  service: McpService,
  deps: HttpEndpointDeps,
  options: HttpEndpointOptions = {},
): HttpEndpoint {
  const bodyMaxBytes = options.bodyMaxBytes ?? 4 * 1024 * 1024;
  const bodyMaxDepth = options.bodyMaxDepth ?? 64;
  const maxSessions = options.maxSessions ?? 1000;
  const sessionIdleMs = options.sessionIdleMs ?? 3_600_000;
  const maxInFlight = options.maxInFlight ?? 2048;
  const maxListeners = options.maxListeners ?? 4096;
  const unreadMaxBytes = options.unreadMaxBytes ?? defaultUnreadMaxBytes;
  const sessions = new Map<string, HttpSession>();
  const modernExchanges = new Set<ModernExchange>();
  const inFlight = { count: 0 };
  /** Counted apart: clients hold them for hours, and they must not keep calls out. */
  const listening = { count: 0 };
  let isDraining = false;

  const housekeeping = setInterval(() => {
    const now = deps.now();
    for (const [id, session] of sessions) {
      session.keepAlive();
      session.openSlowExchanges();
      // Idleness starts when the last stream is gone, not when it was opened.
      if (session.isBusy) session.lastUsedAt = now;
      else if (now - session.lastUsedAt > sessionIdleMs) end(id, "The session was idle for too long");
    }
    for (const exchange of modernExchanges) exchange.keepAlive();
  }, options.keepAliveMs ?? 15_000);
  housekeeping.unref();

  function end(id: string, reason: string): void {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.close(reason);
  }

  /** The session that a request names, if it exists for this caller. */
  function sessionOf(request: IncomingMessage, caller: HttpCaller): HttpSession {
    const id = request.headers[sessionHeader];
    if (typeof id !== "string") {
      throw invalidRequest(
        `The header "${sessionHeader}" is missing; send "initialize" first`,
        undefined,
        400,
      );
    }
    const session = sessions.get(id);
    const isTheirs =
      session !== undefined &&
      session.session.view === caller.view &&
      isSameIdentity(session.session.identity, caller.identity);
    if (!isTheirs) throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    session.lastUsedAt = deps.now();
    return session;
  }

  function openSession(caller: HttpCaller): HttpSession {
    if (sessions.size >= maxSessions) {
      const oldest = oldestIdle(sessions.values());
      if (oldest === undefined) throw overloaded(`More than ${maxSessions} sessions are open`);
      end(oldest.session.id, "The session made room for a newer one");
    }
    const id = deps.newSessionId();
    const session = new HttpSession(service, {
      id,
      identity: caller.identity,
      view: caller.view,
      maxInFlight: options.maxInFlightPerSession,
      onStray: deps.onStray,
      now: deps.now(),
      inFlight,
      unreadMaxBytes,
    });
    sessions.set(id, session);
    return session;
  }

  async function post(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): Promise<void> {
    if (!isJsonBody(request)) {
      const given = request.headers["content-type"] ?? "";
      throw invalidRequest(`Content-Type must be application/json, not "${given}"`, undefined, 415);
    }
    const accepts = acceptedBy(request);
    if (!accepts.json && !accepts.events) {
      throw invalidRequest("Accept must list application/json and text/event-stream", undefined, 406);
    }
    const body = await readBody(request, bodyMaxBytes);
    const value = parseBody(body, { maxLength: bodyMaxBytes, maxDepth: bodyMaxDepth });
    const isBatch = Array.isArray(value);
    const classified = isBatch ? value.map(classify) : [classify(value)];
    const first = classified.find(isRequest)?.message;
    const refusal = first === undefined ? undefined : refusalOf(first.method);
    if (refusal !== undefined) {
      const id = first === undefined || isBatch ? null : first.id;
      sendError(response, overloaded(refusal), id, headersFor(503));
      return;
    }
    if (isModernRequest(request, value)) {
      await postModern(request, response, caller, isBatch ? undefined : classified[0], accepts);
    } else if (first?.method === "initialize") postInitialize(response, caller, isBatch, first);
    else postToSession(request, response, caller, isBatch ? value : undefined, classified, accepts);
  }

  /** Why no more requests of `method` are taken; undefined while they are. */
  function refusalOf(method: string): string | undefined {
    if (isDraining) return "The gateway is shutting down";
    if (method === listenMethod)
      return listening.count < maxListeners
        ? undefined
        : `More than ${maxListeners} streams of changes are open`;
    return inFlight.count < maxInFlight ? undefined : `More than ${maxInFlight} requests are in flight`;
  }

  function postInitialize(
    response: ServerResponse,
    caller: HttpCaller,
    isBatch: boolean,
    message: RpcRequest,
  ): void {
    if (isBatch) throw invalidRequest('"initialize" cannot be part of a batch', undefined, 400);
    const session = openSession(caller);
    const body = { messages: [{ kind: "request", message }], requests: [message], isBatch } as const;
    session.post(body, response, { json: true, events: false });
    // The handshake is answered at once; one that was refused leaves no session behind.
    setImmediate(() => {
      if (!session.session.isOpen) end(session.session.id, "The handshake failed");
    });
  }

  function postToSession(
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCaller,
    batch: readonly unknown[] | undefined,
    classified: readonly Classified[],
    accepts: AcceptedForms,
  ): void {
    const session = sessionOf(request, caller);
    checkVersionHeader(request);
    if (batch !== undefined) session.session.checkBatch(batch);
    const body = toBody(classified, batch !== undefined);
    if (body.requests.length === 0) {
      for (const message of body.messages) session.session.router.take(message);
      response.writeHead(202).end();
      return;
    }
    const reused = reusedId(session, body.requests);
    if (reused !== undefined) {
      throw invalidRequest(`Request id ${JSON.stringify(reused)} is already in use`, undefined, 400);
    }
    session.post(body, response, accepts);
  }

  async function postModern(
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCaller,
    classified: Classified | undefined,
    accepts: AcceptedForms,
  ): Promise<void> {
    if (classified?.kind === "notification") {
      response.writeHead(202).end();
      return;
    }
    if (classified?.kind !== "request") {
      throw invalidRequest("The body must be one JSON-RPC request or notification", undefined, 400);
    }
    const { message } = classified;
    try {
      checkModernHeaders(request, message, caller);
    } catch (error) {
      sendError(response, error, message.id);
      return;
    }
    const counter = message.method === listenMethod ? listening : inFlight;
    counter.count += 1;
    try {
      const context = { ...caller, accepts, unreadMaxBytes, exchanges: modernExchanges };
      await answerModernHttp(service, message, response, context);
    } finally {
      counter.count -= 1;
    }
  }

  /** @throws {McpError} with status 400: -32022, -32602 or -32020. */
  function checkModernHeaders(request: IncomingMessage, message: RpcRequest, caller: HttpCaller): void {
    const params = paramsOf(message);
    const headerVersion = request.headers["mcp-protocol-version"];
    const version = modernVersionOf(params);
    if (typeof headerVersion === "string" && version !== undefined && headerVersion !== version) {
      throw headerMismatch(
        `the header "mcp-protocol-version" says "${headerVersion}", the body says "${version}"`,
      );
    }
    const named = version ?? headerVersion;
    if (typeof named === "string" && eraOf(named) !== "modern") throw unsupportedVersion(named);
    if (version === undefined)
      throw invalidRequest("Each request needs its protocol version in _meta", rpcCodes.invalidParams, 400);
    const name = params["name"];
    const schema =
      message.method === "tools/call" && typeof name === "string"
        ? service.toolInputSchema(caller.view, caller.identity, name)
        : undefined;
    checkMirroredHeaders(request.headers, message, version, schema);
  }

  function get(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): void {
    if (!acceptedBy(request).events)
      throw invalidRequest("Accept must list text/event-stream", undefined, 406);
    if (request.headers[sessionHeader] === undefined) throw methodNotAllowed();
    const session = sessionOf(request, caller);
    const lastEventId = request.headers["last-event-id"];
    session.get(response, typeof lastEventId === "string" ? lastEventId : undefined);
  }

  return {
    async handle(request, response, caller) {
      try {
        if (request.method === "POST") await post(request, response, caller);
        else if (request.method === "GET") get(request, response, caller);
        else if (request.method === "DELETE") {
          if (request.headers[sessionHeader] === undefined) throw methodNotAllowed();
          const { session } = sessionOf(request, caller);
          end(session.id, "The client ended the session");
          response.writeHead(204).end();
        } else throw methodNotAllowed();
      } catch (error) {
        const status = error instanceof McpError ? error.httpStatus : undefined;
        if (status === undefined)
          deps.onStray?.(`HTTP request failed: ${(error as Error).stack ?? String(error)}`);
        if (error instanceof McpError) sendError(response, error, null, headersFor(status));
        else sendJson(response, 500, JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(error) }));
      }
    },
    stats: () => ({ sessions: sessions.size, inFlight: inFlight.count, listeners: listening.count }),
    async drain(graceMs) {
      isDraining = true;
      // Listeners wait for changes, not for answers: they end now, gracefully.
      for (const exchange of modernExchanges) {
        if (exchange.method === listenMethod) exchange.abort(shuttingDown);
      }
      await untilZero(() => inFlight.count + listening.count, graceMs);
    },
    async [Symbol.asyncDispose]() {
      isDraining = true;
      clearInterval(housekeeping);
      for (const exchange of modernExchanges) exchange.abort(shuttingDown);
      for (const id of [...sessions.keys()]) end(id, "The gateway is shutting down");
      // Handlers that heed their signal answer now; those that do not are left.
      await untilZero(() => inFlight.count + listening.count, disposeWaitMs);
    },
  };
}

/**
 * The session to end when there is no room: the idle one that was not used for
 * longest, of the identity that has most, so that nobody can push out others.
 */
function oldestIdle(sessions: Iterable<HttpSession>): HttpSession | undefined {
  const groups = Map.groupBy(sessions, ({ session: { identity } }) => identityKey(identity));
  for (const group of [...groups.values()].sort((a, b) => b.length - a.length)) {
    const [oldest] = group.filter(({ isBusy }) => !isBusy).sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (oldest !== undefined) return oldest;
  }
  return undefined;
}

/** Longest wait of a disposal for requests that were aborted. */
const disposeWaitMs = 1000;

const shuttingDown = new McpError("MCP_OVERLOADED", "The gateway is shutting down");

function overloaded(message: string): McpError {
  return new McpError("MCP_OVERLOADED", message, { httpStatus: 503, hint: "try again later" });
}

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

/** @throws {McpError} with status 400 when one of the values is no message. */
function toBody(classified: readonly Classified[], isBatch: boolean): PostedBody {
  const messages: ClassifiedMessage[] = [];
  const requests: RpcRequest[] = [];
  for (const one of classified) {
    if (one.kind === "invalid") throw invalidRequest(`Invalid request: ${one.reason}`, undefined, 400);
    messages.push(one);
    if (one.kind === "request") requests.push(one.message);
  }
  return { messages, requests, isBatch };
}

/** The first id that is in use in `session`, or there twice. */
function reusedId(session: HttpSession, requests: readonly RpcRequest[]): RpcId | undefined {
  const [first] = requests;
  if (requests.length === 1) return first !== undefined && session.isOpen(first.id) ? first.id : undefined;
  const seen = new Set<RpcId>();
  return requests.find(({ id }) => session.isOpen(id) || seen.size === seen.add(id).size)?.id;
}

function isModernRequest(request: IncomingMessage, value: unknown): boolean {
  const header = request.headers["mcp-protocol-version"];
  if (typeof header === "string" && header >= latestModernVersion) return true;
  if (!isJsonObject(value) || !isJsonObject(value["params"])) return false;
  return modernVersionOf(value["params"]) !== undefined;
}

/** A legacy request may omit the header; one that is not spoken is refused (2025-06-18, transports). */
function checkVersionHeader(request: IncomingMessage): void {
  const version = request.headers["mcp-protocol-version"];
  if (typeof version === "string" && eraOf(version) === undefined) throw unsupportedVersion(version);
}
