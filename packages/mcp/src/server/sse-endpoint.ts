/**
 * The legacy HTTP+SSE transport on the server edge (2024-11-05): a GET opens
 * the stream and names a URL, messages are POSTed there, everything comes back
 * on the stream. Deprecated, and still what many clients speak.
 *
 * As with Streamable HTTP, its owner authenticates first; a session belongs to
 * the identity that opened it, and losing the stream ends it.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { isSameIdentity } from "@toolcrib/tool";
import { formatSseEvent } from "../framing/sse.ts";
import { classify } from "../json-rpc.ts";
import { invalidRequest, McpError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { HttpEndpointDeps } from "./http-endpoint.ts";
import {
  defaultUnreadMaxBytes,
  type HttpCaller,
  isJsonBody,
  openEventStream,
  parseBody,
  readBody,
  sendError,
  untilZero,
  writeEvent,
} from "./http-io.ts";
import { LegacySession } from "./legacy-session.ts";
import type { McpService } from "./service.ts";

/** Limits of an SSE endpoint. */
export interface SseEndpointOptions {
  /** Path that clients POST to; the session goes into its query. @default "/messages" */
  readonly messagesPath?: string;
  /** @default 4,194,304 */
  readonly bodyMaxBytes?: number;
  /** @default 64 */
  readonly bodyMaxDepth?: number;
  /** @default 1000 */
  readonly maxSessions?: number;
  /** Most requests in flight in one session. @default 256 */
  readonly maxInFlightPerSession?: number;
  /** Milliseconds between comments on open streams. @default 15,000 */
  readonly keepAliveMs?: number;
  /**
   * Bytes of a stream that may wait for its client to read them. While more
   * wait, requests are refused (503) and a notification cuts the connection.
   * @default 4,194,304
   */
  readonly unreadMaxBytes?: number;
}

/** Legacy SSE for any number of clients. */
export interface SseEndpoint extends AsyncDisposable {
  /** Answer the GET that opens a stream. */
  open(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): void;
  /** Answer a POST to the messages path; never rejects. */
  post(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): Promise<void>;
  stats(): { readonly sessions: number; readonly inFlight: number };
  /** Refuse new work and wait until everything in flight is answered, at most `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

/** Create an endpoint for `service`. */
export function createSseEndpoint(
  service: McpService,
  deps: HttpEndpointDeps,
  options: SseEndpointOptions = {},
): SseEndpoint {
  const messagesPath = options.messagesPath ?? "/messages";
  const bodyMaxBytes = options.bodyMaxBytes ?? 4 * 1024 * 1024;
  const bodyMaxDepth = options.bodyMaxDepth ?? 64;
  const maxSessions = options.maxSessions ?? 1000;
  const unreadMaxBytes = options.unreadMaxBytes ?? defaultUnreadMaxBytes;
  const sessions = new Map<string, { readonly session: LegacySession; readonly response: ServerResponse }>();
  let isDraining = false;

  const keepAlive = setInterval(() => {
    for (const { response } of sessions.values()) writeEvent(response, ": keep-alive\n\n", unreadMaxBytes);
  }, options.keepAliveMs ?? 15_000);
  keepAlive.unref();

  function inFlight(): number {
    let count = 0;
    for (const { session } of sessions.values()) count += session.router.inboundCount;
    return count;
  }

  async function receive(
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCaller,
  ): Promise<void> {
    const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
    const entry = sessions.get(id);
    if (entry === undefined || !isSameIdentity(entry.session.identity, caller.identity)) {
      throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    }
    if (!isJsonBody(request)) throw invalidRequest("Content-Type must be application/json", undefined, 415);
    const body = await readBody(request, bodyMaxBytes);
    const value = parseBody(body, { maxLength: bodyMaxBytes, maxDepth: bodyMaxDepth });
    // What is in flight may have asked its client, whose answer must still get in.
    if (holdsRequest(value)) {
      if (isDraining) throw overloaded("The gateway is shutting down");
      if (entry.response.writableLength > unreadMaxBytes)
        throw overloaded("The stream of answers is not read");
    }
    response.writeHead(202, { "content-type": "text/plain" }).end("Accepted");
    entry.session.receive(value);
  }

  return {
    open(_request, response, caller) {
      if (isDraining || sessions.size >= maxSessions) {
        const reason = isDraining
          ? "The gateway is shutting down"
          : `More than ${maxSessions} sessions are open`;
        sendError(response, overloaded(reason), null, { "retry-after": "1" });
        return;
      }
      const id = deps.newSessionId();
      const session = new LegacySession(
        service,
        (message) => {
          const text = formatSseEvent(JSON.stringify(message), { event: "message" });
          // Answers are as many as the requests in flight, which are limited; only what comes unasked can pile up.
          if ("method" in message) writeEvent(response, text, unreadMaxBytes);
          else if (!response.destroyed && !response.writableEnded) response.write(text);
        },
        { ...caller, id, maxInFlight: options.maxInFlightPerSession, onStray: deps.onStray },
      );
      sessions.set(id, { session, response });
      response.on("close", () => {
        sessions.delete(id);
        session.close("The client closed the stream");
      });
      openEventStream(response);
      response.write(
        formatSseEvent(`${messagesPath}?sessionId=${encodeURIComponent(id)}`, { event: "endpoint" }),
      );
    },
    async post(request, response, caller) {
      try {
        await receive(request, response, caller);
      } catch (error) {
        const isOverload = error instanceof McpError && error.httpStatus === 503;
        sendError(response, error, null, isOverload ? { "retry-after": "1" } : {});
      }
    },
    stats: () => ({ sessions: sessions.size, inFlight: inFlight() }),
    async drain(graceMs) {
      isDraining = true;
      await untilZero(inFlight, graceMs);
    },
    async [Symbol.asyncDispose]() {
      isDraining = true;
      clearInterval(keepAlive);
      for (const { session, response } of sessions.values()) {
        session.close("The gateway is shutting down");
        response.end();
      }
      sessions.clear();
    },
  };
}

function holdsRequest(value: unknown): boolean {
  const messages = Array.isArray(value) ? value : [value];
  return messages.some((message) => classify(message).kind === "request");
}

function overloaded(message: string): McpError {
  return new McpError("MCP_OVERLOADED", message, { httpStatus: 503, hint: "try again later" });
}
