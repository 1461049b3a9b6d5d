/**
 * The legacy HTTP+SSE transport on the server side (2024-11-05): a GET opens
 * the stream and returns a URL, clients POST messages to it, and everything
 * else is sent on the stream. Deprecated, but many clients still use it.
 *
 * The owner authenticates first. A session belongs to the identity that opened
 * it, and ends with its stream.
 */

import { FairShare } from "@toolcrib/lifecycle";
import { identityKey, rightsKey } from "@toolcrib/tool";
import { formatSseEvent } from "../framing/sse.ts";
import { classify, type RpcId, type RpcMessage } from "../json-rpc.ts";
import { invalidRequest, McpError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import { RequestTable } from "../request-table.ts";
import { FairTurns } from "./fair-turns.ts";
import type { HttpEndpointDeps } from "./http-endpoint.ts";
import {
  type BodyLimits,
  defaultBodyMaxValues,
  defaultUnreadMaxBytes,
  type HttpCaller,
  holdValues,
  isJsonBody,
  openEventStream,
  overloaded,
  overQuota,
  parseBody,
  readBody,
  requireAccepted,
  sendError,
  shuttingDown,
  waitAtMost,
  writeEvent,
} from "./http-io.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import { LegacySession } from "./legacy-session.ts";
import { ServerMemory } from "./server-memory.ts";
import type { McpService } from "./service.ts";

/** Limits of an SSE endpoint. */
export interface SseEndpointOptions {
  /** Path for POSTs; the session id is in the query. @default "/messages" */
  readonly messagesPath?: string;
  /** @default 4,194,304 */
  readonly bodyMaxBytes?: number;
  /** @default 64 */
  readonly bodyMaxDepth?: number;
  /** @default 250,000 */
  readonly bodyMaxValues?: number;
  /** Maximum number of open streams; one client gets at most half of them. @default 1000 */
  readonly maxSessions?: number;
  /** Maximum number of requests in flight in one session. @default 256 */
  readonly maxInFlightPerSession?: number;
  /** Milliseconds between comments on open streams. @default 15,000 */
  readonly keepAliveMs?: number;
  /**
   * Unread bytes of a stream past which requests are refused (503) and a
   * notification ends the client's connection. @default 4,194,304
   */
  readonly unreadMaxBytes?: number;
}

/** The body of an answer to a POST. */
const accepted = "Accepted";

interface OpenSession {
  readonly session: LegacySession;
  readonly response: HttpResponse;
  /** The memory of the bodies of requests in flight, by the ids of their requests. */
  readonly held: RequestTable<HeldPost>;
  /** Whether it ends with the requests in flight, and takes no others. */
  isEnding: boolean;
}

/** Serves legacy SSE to any number of clients. */
export class SseEndpoint implements AsyncDisposable {
  readonly #service: McpService;
  readonly #deps: Omit<HttpEndpointDeps, "sessions">;
  readonly #messagesPath: string;
  readonly #bodyLimits: BodyLimits;
  readonly #maxSessions: number;
  readonly #maxInFlightPerSession: number | undefined;
  readonly #memory: ServerMemory;
  readonly #turns: FairTurns;
  readonly #unreadMaxBytes: number;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #shares: FairShare;
  readonly #keepAlive: NodeJS.Timeout;
  #isDraining = false;

  constructor(
    service: McpService,
    deps: Omit<HttpEndpointDeps, "sessions">,
    options: SseEndpointOptions = {},
  ) {
    this.#service = service;
    this.#deps = deps;
    this.#messagesPath = options.messagesPath ?? "/messages";
    this.#bodyLimits = {
      maxLength: options.bodyMaxBytes ?? 4 * 1024 * 1024,
      maxDepth: options.bodyMaxDepth ?? 64,
      maxValues: options.bodyMaxValues ?? defaultBodyMaxValues,
    };
    this.#maxSessions = options.maxSessions ?? 1000;
    this.#shares = new FairShare(this.#maxSessions);
    this.#maxInFlightPerSession = options.maxInFlightPerSession;
    this.#memory = deps.memory ?? new ServerMemory();
    this.#turns = new FairTurns(deps.now);
    this.#unreadMaxBytes = options.unreadMaxBytes ?? defaultUnreadMaxBytes;
    this.#keepAlive = setInterval(() => {
      for (const { response } of this.#sessions.values())
        writeEvent(response, ": keep-alive\n\n", this.#unreadMaxBytes);
    }, options.keepAliveMs ?? 15_000);
    this.#keepAlive.unref();
  }

  /** Answers the GET that opens a stream. */
  open(_request: HttpRequest, response: HttpResponse, caller: HttpCaller): void {
    const client = identityKey(caller.identity);
    const refusal = this.#refusalOf(client);
    if (refusal !== undefined) {
      sendError(response, refusal, null, { "retry-after": "1" });
      return;
    }
    const id = this.#deps.newSessionId();
    const held = new RequestTable<HeldPost>();
    const send = (message: RpcMessage) => {
      if (!("method" in message) && message.id !== null) settle(held, message.id);
      this.#send(client, response, message);
    };
    const session = new LegacySession(this.#service, send, {
      ...caller,
      id,
      onCancelled: (requestId) => settle(held, requestId),
      maxInFlight: this.#maxInFlightPerSession,
      onUnexpected: this.#deps.onUnexpected,
    });
    this.#sessions.set(id, { session, response, held, isEnding: false });
    this.#shares.take(client);
    response.on("close", () => {
      this.#sessions.delete(id);
      this.#shares.giveBack(client);
      session.close("The client closed the stream");
      for (const { body } of held.values()) body.dispose();
    });
    openEventStream(response);
    const endpoint = `${this.#messagesPath}?sessionId=${encodeURIComponent(id)}`;
    response.write(formatSseEvent(endpoint, { event: "endpoint" }));
  }

  /** Answers a POST to the messages path; never rejects. */
  async post(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    try {
      await this.#receive(request, response, caller);
    } catch (error) {
      const isOverload = error instanceof McpError && error.httpStatus === 503;
      sendError(response, error, null, isOverload ? { "retry-after": "1" } : {});
    }
  }

  /**
   * Lets the stream of `response` end when its requests in flight are answered; it takes no others.
   *
   * @returns false for a stream without requests in flight, and for a response that is no stream of this endpoint
   */
  endWhenAnswered(response: HttpResponse): boolean {
    const entry = this.#sessions.values().find((one) => one.response === response);
    if (entry === undefined || entry.session.router.inboundCount === 0) return false;
    entry.isEnding = true;
    void entry.session.router.whenIdle().then(() => response.end());
    return true;
  }

  /** Returns the number of sessions and of requests in flight, for metrics. */
  stats(): { readonly sessions: number; readonly inFlight: number } {
    let inFlight = 0;
    for (const { session } of this.#sessions.values()) inFlight += session.router.inboundCount;
    return { sessions: this.#sessions.size, inFlight };
  }

  /** Refuses new requests and waits until every request in flight is answered, at most `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const sessions = [...this.#sessions.values()];
    await waitAtMost(Promise.all(sessions.map(({ session }) => session.router.whenIdle())), graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#keepAlive);
    for (const { session, response } of this.#sessions.values()) {
      session.close("The gateway is shutting down");
      response.end();
    }
    this.#sessions.clear();
  }

  #refusalOf(client: string): McpError | undefined {
    if (this.#isDraining) return shuttingDown();
    const refusal = this.#shares.refusalFor(client);
    if (refusal === "share") return overQuota("sessions");
    return refusal && overloaded(`More than ${this.#maxSessions} sessions are open`);
  }

  #send(client: string, response: HttpResponse, message: RpcMessage): void {
    const isAnswer = !("method" in message);
    const written = JSON.stringify(message);
    const data =
      isAnswer && message.id !== null ? this.#memory.unread.admit(client, message.id, written) : written;
    const text = formatSseEvent(data, { event: "message" });
    // The number of responses is limited by the requests in flight. Only other messages can pile up.
    if (!isAnswer) writeEvent(response, text, this.#unreadMaxBytes);
    else if (!response.destroyed && !response.writableEnded) response.write(text);
    this.#memory.unread.count(client, response);
  }

  async #receive(request: HttpRequest, response: HttpResponse, caller: HttpCaller): Promise<void> {
    const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
    const entry = this.#sessions.get(id);
    if (entry === undefined || rightsKey(entry.session.identity) !== rightsKey(caller.identity)) {
      throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    }
    if (!isJsonBody(request)) throw invalidRequest("Content-Type must be application/json", undefined, 415);
    const client = identityKey(caller.identity);
    const turn = this.#turns.enter(client);
    if (turn !== undefined) await turn;
    using held = new DisposableStack();
    const counted = held.use(this.#memory.holdBody(client));
    const read = readBody(request, this.#bodyLimits.maxLength, counted);
    const body = typeof read === "string" ? read : await read;
    if (typeof read !== "string") requireAccepted(caller);
    const value = parseBody(body, this.#bodyLimits);
    holdValues(body, counted);
    const ids = requestIdsOf(value);
    // A request in flight may have sent a request to the client, whose response must still be accepted.
    if (ids.length > 0) {
      if (this.#isDraining) throw shuttingDown();
      if (entry.isEnding) {
        const reason = "The access token that opened this stream has ended: open another stream";
        throw invalidRequest(reason, rpcCodes.sessionNotFound, 404);
      }
      if (entry.response.writableLength > this.#unreadMaxBytes)
        throw overloaded("The stream of answers is not read");
    }
    response
      .writeHead(202, { "content-type": "text/plain", "content-length": accepted.length })
      .end(accepted);
    const { session } = entry;
    const fresh = new Set(ids.filter((one) => !session.router.isAnswering(one)));
    session.receive(value);
    // Answers come later; what the session refused, and all of it once the session has ended, holds no memory.
    const open = [...fresh].filter((one) => session.router.isAnswering(one));
    if (open.length === 0) return;
    const post = { openCount: open.length, body: held.move() };
    for (const one of open) entry.held.set(one, post);
  }
}

/** A POST with requests in flight. */
interface HeldPost {
  /** Number of requests without an answer. */
  openCount: number;
  readonly body: DisposableStack;
}

/** Frees the body of request `id` if it was the last one of its POST. */
function settle(held: RequestTable<HeldPost>, id: RpcId): void {
  const post = held.get(id);
  if (post === undefined) return;
  held.delete(id);
  post.openCount -= 1;
  if (post.openCount === 0) post.body.dispose();
}

function requestIdsOf(value: unknown): readonly RpcId[] {
  const messages = (Array.isArray(value) ? value : [value]).map(classify);
  return messages.flatMap((one) => (one.kind === "request" ? [one.message.id] : []));
}
