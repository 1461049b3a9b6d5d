/**
 * The legacy HTTP+SSE transport on the server edge (2024-11-05): a GET opens
 * the stream and names a URL, messages are POSTed there, everything comes back
 * on the stream. Deprecated, and still what many clients speak.
 *
 * As with Streamable HTTP, its owner authenticates first; a session belongs to
 * the identity that opened it, and losing the stream ends it.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "@toolcrib/json";
import { mcpOverloaded } from "../codes.ts";
import { formatSseEvent } from "../framing/sse.ts";
import { invalidRequest, McpError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { HttpEndpointDeps } from "./http-endpoint.ts";
import { type HttpCaller, openEventStream, readBody, sendError } from "./http-io.ts";
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
  const maxSessions = options.maxSessions ?? 1000;
  const sessions = new Map<string, { readonly session: LegacySession; readonly response: ServerResponse }>();
  let isDraining = false;

  const keepAlive = setInterval(() => {
    for (const { response } of sessions.values()) response.write(": keep-alive\n\n");
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
    const { identity } = caller;
    const owner = entry?.session.identity;
    if (entry === undefined || owner?.name !== identity.name || owner.kind !== identity.kind) {
      throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    }
    if (isDraining) throw overloaded("The gateway is shutting down");
    const body = await readBody(request, bodyMaxBytes);
    let value: unknown;
    try {
      value = parseJson(body, { maxLength: bodyMaxBytes, maxDepth: options.bodyMaxDepth ?? 64 });
    } catch (error) {
      throw invalidRequest(`Parse error: ${(error as Error).message}`, rpcCodes.parseError, 400);
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
          if (!response.writableEnded)
            response.write(formatSseEvent(JSON.stringify(message), { event: "message" }));
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
        sendError(response, error);
      }
    },
    stats: () => ({ sessions: sessions.size, inFlight: inFlight() }),
    async drain(graceMs) {
      isDraining = true;
      const deadline = deps.now() + graceMs;
      while (inFlight() > 0 && deps.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
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

function overloaded(message: string): McpError {
  return new McpError(mcpOverloaded, message, { httpStatus: 503, hint: "try again later" });
}
