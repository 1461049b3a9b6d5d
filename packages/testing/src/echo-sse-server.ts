/**
 * The echo server on HTTP with SSE, the transport of 2024-11-05, in this process.
 * `GET /sse` opens the stream that carries all messages of the server; its first
 * event contains the URL (`/messages?sessionId=…`) to which the client posts its
 * messages. A session ends with its stream.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { EchoConnection } from "./echo/echo-connection.ts";
import {
  type EchoHttpOptions,
  type EchoHttpServer,
  eventOf,
  eventStreamHeaders,
  HttpEcho,
  urlOf,
} from "./echo/http-options.ts";
import { isJsonObject, type JsonRpcMessage } from "./echo/json-rpc.ts";
import { readBody, sendJsonRpcError } from "./loopback-http.ts";

interface SseSession {
  readonly connection: EchoConnection;
  readonly stream: ServerResponse;
}

/**
 * Starts an echo server for HTTP with SSE on a loopback port.
 *
 * @param options the protocol defaults to "2024-11-05" here.
 */
export async function startEchoSseServer(options: EchoHttpOptions = {}): Promise<EchoHttpServer> {
  const echo = new HttpEcho({ ...options, protocol: options.protocol ?? "2024-11-05" });
  const sessions = new Map<string, SseSession>();

  const httpServer = createServer((request, response) => {
    if (!echo.admit(request, response)) return;
    const { pathname, searchParams } = urlOf(request);
    if (request.method === "GET" && pathname === "/sse") openSession(request, response);
    else if (request.method === "POST" && pathname === "/messages") {
      post(searchParams.get("sessionId") ?? "", request, response).catch((error: unknown) => {
        if (!response.headersSent) sendJsonRpcError(response, 500, -32603, String(error));
      });
    } else response.writeHead(pathname === "/sse" || pathname === "/messages" ? 405 : 404).end();
  });

  function openSession(request: IncomingMessage, stream: ServerResponse): void {
    const id = randomUUID();
    const connection = new EchoConnection(echo.server, {
      send: (message) => stream.write(eventOf(JSON.stringify(message))),
      writeText: (text) => stream.write(eventOf(text)),
      breakOff: () => stream.socket?.destroy(),
      expireSession: () => sessions.delete(id),
      headers: request.headers,
    });
    sessions.set(id, { connection, stream });
    stream.on("close", () => {
      connection.close();
      sessions.delete(id);
    });
    stream.writeHead(200, eventStreamHeaders);
    stream.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
  }

  async function post(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse(await readBody(request));
    const session = sessions.get(id);
    if (session === undefined) response.writeHead(404).end("Session not found");
    else if (!isJsonObject(body)) response.writeHead(400).end("Invalid message");
    else {
      response.writeHead(202).end("Accepted");
      session.connection.receive(body as unknown as JsonRpcMessage);
    }
  }

  return echo.open(httpServer, "/sse", {
    get size() {
      return sessions.size;
    },
    clear() {
      for (const session of sessions.values()) session.stream.end();
      sessions.clear();
    },
  });
}
