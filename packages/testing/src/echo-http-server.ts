/**
 * The echo server on streamable HTTP, in this process: with or without sessions,
 * with JSON or stream responses, for the protocols up to 2025-11-25 and
 * (`protocol: "2026-07-28"`) the one without sessions. On demand it refuses
 * requests, drops sessions and breaks connections.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { EchoServer } from "./echo/echo-server.ts";
import { type EchoHttpOptions, type EchoHttpServer, HttpEcho, urlOf } from "./echo/http-options.ts";
import { type AnswerForm, HttpSession } from "./echo/http-session.ts";
import { failureOf, isJsonObject, type JsonRpcMessage } from "./echo/json-rpc.ts";
import { checkHeaders, checkRequestMeta, isModernMessage, modernVersion } from "./echo/modern-era.ts";
import { readBody, sendJsonRpcError } from "./loopback-http.ts";

/** Options of the streamable HTTP echo server. The flag of a child process is in brackets. */
export interface EchoStreamableHttpOptions extends EchoHttpOptions {
  /** Issues session ids and requires them on further requests [`--no-sessions` for false]. @default true */
  readonly sessions?: boolean;
  /** Form of the responses [`--answers`]. @default "sse" */
  readonly answers?: AnswerForm;
  /** Adds ids to the events of streams, so that a broken stream can be resumed [`--resumable`]. @default false */
  readonly resumable?: boolean;
}

/** Starts an echo server for streamable HTTP at `/mcp` of a loopback port. */
export async function startEchoHttpServer(options: EchoStreamableHttpOptions = {}): Promise<EchoHttpServer> {
  const echo = new HttpEcho(options);
  const endpoint = new StreamableHttpEndpoint(echo.server, options);
  const httpServer = createServer((request, response) => {
    if (!echo.admit(request, response)) return;
    endpoint.serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJsonRpcError(response, 500, -32603, String(error));
    });
  });
  return echo.open(httpServer, "/mcp", endpoint);
}

/** The endpoint `/mcp` with its sessions. */
class StreamableHttpEndpoint {
  readonly #server: EchoServer;
  readonly #hasSessions: boolean;
  readonly #answers: AnswerForm;
  readonly #isResumable: boolean;
  readonly #sessions = new Map<string, HttpSession>();

  constructor(server: EchoServer, { sessions, answers, resumable }: EchoStreamableHttpOptions) {
    this.#server = server;
    this.#hasSessions = sessions ?? true;
    this.#answers = answers ?? "sse";
    this.#isResumable = resumable ?? false;
  }

  /** Number of open sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Closes and drops every session. */
  clear(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hasStreams = this.#hasSessions && this.#server.isLegacy;
    if (urlOf(request).pathname !== "/mcp") response.writeHead(404).end();
    else if (request.method === "POST") await this.#post(request, response);
    else if (!hasStreams) response.writeHead(405, { allow: "POST" }).end();
    else if (request.method === "GET") {
      this.#findSession(request, response)?.get(lastEventIdOf(request), response);
    } else if (request.method === "DELETE") this.#endSession(request, response);
    else response.writeHead(405, { allow: "GET, POST, DELETE" }).end();
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { isModern, isLegacy } = this.#server;
    const body = parseMessage(await readBody(request));
    if (body === undefined) sendJsonRpcError(response, 400, -32700, "Parse error");
    else if (isModern && (isModernMessage(body) || !isLegacy)) this.#postModern(body, request, response);
    else this.#postLegacy(body, request, response);
  }

  #postLegacy(body: JsonRpcMessage, request: IncomingMessage, response: ServerResponse): void {
    const isOpening = this.#hasSessions && body.method === "initialize";
    const session = isOpening ? this.#openSession(request) : this.#findSession(request, response);
    if (session === undefined) return;
    if (body.method !== undefined && body.id !== undefined) {
      session.post(body, response);
      return;
    }
    session.connection.receive(body);
    response.writeHead(202).end();
  }

  /** Answers one request on a connection of its own. When the client closes the response, the request is cancelled. */
  #postModern(body: JsonRpcMessage, request: IncomingMessage, response: ServerResponse): void {
    try {
      checkRequestMeta(body, [modernVersion]);
      checkHeaders(body, request.headers, inputSchemaOf(this.#server, body));
    } catch (thrown) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify(failureOf(body.id ?? null, thrown)));
      return;
    }
    if (body.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const isListening = body.method === "subscriptions/listen";
    const answers = this.#answers === "sse" ? "auto" : this.#answers;
    const session = new HttpSession(this.#server, request, {
      answers: isListening ? "sse" : answers,
      isResumable: false,
      sessionId: undefined,
      statusOf: modernStatusOf,
      onExpire: () => {},
    });
    response.on("close", () => session.close());
    session.post(body, response);
  }

  #openSession(request: IncomingMessage): HttpSession {
    const sessionId = randomUUID();
    const session = this.#newSession(request, sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }

  #newSession(request: IncomingMessage, sessionId: string | undefined): HttpSession {
    return new HttpSession(this.#server, request, {
      answers: this.#answers,
      isResumable: this.#isResumable,
      sessionId,
      onExpire: () => this.#sessions.delete(sessionId ?? ""),
    });
  }

  /** Returns the session of a request, or responds with 400 or 404 if it has none. Without sessions, creates one for this request. */
  #findSession(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const sessionId = request.headers["mcp-session-id"];
    if (!this.#hasSessions) {
      const session = this.#newSession(request, undefined);
      response.on("close", () => session.close());
      return session;
    }
    const session = typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
    if (session !== undefined) return session;
    if (sessionId === undefined) sendJsonRpcError(response, 400, -32000, "Bad Request: Session ID required");
    else sendJsonRpcError(response, 404, -32001, "Session not found");
    return undefined;
  }

  #endSession(request: IncomingMessage, response: ServerResponse): void {
    const session = this.#findSession(request, response);
    if (session === undefined) return;
    this.#sessions.delete(String(request.headers["mcp-session-id"]));
    session.close();
    response.writeHead(204).end();
  }
}

function inputSchemaOf(server: EchoServer, body: JsonRpcMessage) {
  const name = body.method === "tools/call" ? body.params?.["name"] : undefined;
  const schema = typeof name === "string" ? server.tools.get(name)?.definition["inputSchema"] : undefined;
  return isJsonObject(schema) ? schema : undefined;
}

/** Returns the HTTP status that 2026-07-28 requires for a response that consists of an error. */
function modernStatusOf({ error }: JsonRpcMessage): number {
  if (error?.code === -32601) return 404;
  return error?.code === -32021 || error?.code === -32022 ? 400 : 200;
}

function lastEventIdOf(request: IncomingMessage): string | undefined {
  const value = request.headers["last-event-id"];
  return typeof value === "string" ? value : undefined;
}

function parseMessage(text: string): JsonRpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? (value as unknown as JsonRpcMessage) : undefined;
  } catch {
    // Only JSON.parse throws here: the text is not JSON.
    return undefined;
  }
}
