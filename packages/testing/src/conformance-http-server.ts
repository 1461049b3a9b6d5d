/**
 * The conformance server on streamable HTTP, in this process. For the protocols
 * up to 2025-11-25 it has sessions; from 2026-07-28 on it creates a server for
 * each request. Both are at `/mcp` of the same port. It listens on loopback only,
 * and accepts only requests whose Host and Origin are loopback names.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { classifyInboundRequest, createMcpHandler, isInitializeRequest } from "@modelcontextprotocol/server";
import { type ConformanceContext, createConformanceContext } from "./conformance/context.ts";
import { MemoryEventStore } from "./conformance/event-store.ts";
import { createConformanceServer } from "./conformance-server.ts";
import { closeHttpServer, listenOnLoopback, readBody, sendJsonRpcError } from "./loopback-http.ts";

/** A running conformance server. */
export interface RunningHttpServer extends AsyncDisposable {
  /** The MCP endpoint, such as `http://127.0.0.1:41234/mcp`. */
  readonly url: string;
}

/** Milliseconds that a client waits before it resumes a closed stream. */
const retryMs = 200;

/**
 * Starts the conformance server on a loopback port.
 *
 * @param options.port the port to listen on. @default 0 (any free one)
 * @returns the running server; disposing it ends every session and connection.
 */
export async function startConformanceHttpServer(
  options: { readonly port?: number } = {},
): Promise<RunningHttpServer> {
  const context = createConformanceContext();
  const sessions = new LegacySessions(context);
  const modern = createMcpHandler(() =>
    createConformanceServer({
      ...context,
      announce: {
        toolsChanged: () => modern.notify.toolsChanged(),
        promptsChanged: () => modern.notify.promptsChanged(),
      },
    }),
  );
  const handleModern = toNodeHandler(modern);
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();

  const httpServer = createServer((request, response) => {
    // A guard that rejects the request also sends the response.
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      if (!response.headersSent) sendJsonRpcError(response, 500, -32603, "Internal error");
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (new URL(request.url ?? "/", "http://localhost").pathname !== "/mcp") {
      response.writeHead(404).end();
      return;
    }
    if (request.method !== "POST") return sessions.handle(request, response, undefined);
    const text = await readBody(request);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      sendJsonRpcError(response, 400, -32700, "Parse error");
      return;
    }
    const { kind } = classifyInboundRequest({
      httpMethod: "POST",
      protocolVersionHeader: headerOf(request, "mcp-protocol-version"),
      mcpMethodHeader: headerOf(request, "mcp-method"),
      body,
    });
    if (kind === "legacy") return sessions.handle(request, response, body);
    // The adapter's type of a Node response is narrower than the overloads of Node.
    await handleModern(request, response as Parameters<typeof handleModern>[1], body);
  }

  const port = await listenOnLoopback(httpServer, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      await modern.close();
      await sessions.close();
      await closeHttpServer(httpServer);
    },
  };
}

/** The sessions of the protocols that have them, by id. */
class LegacySessions {
  readonly #context: ConformanceContext;
  readonly #transports = new Map<string, NodeStreamableHTTPServerTransport>();

  constructor(context: ConformanceContext) {
    this.#context = context;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const sessionId = headerOf(request, "mcp-session-id");
    const transport = sessionId === undefined ? undefined : this.#transports.get(sessionId);
    if (transport !== undefined) await transport.handleRequest(request, response, body);
    else if (sessionId !== undefined) sendJsonRpcError(response, 404, -32001, "Session not found");
    else if (isInitializeRequest(body)) await (await this.#open()).handleRequest(request, response, body);
    else sendJsonRpcError(response, 400, -32000, "Bad Request: Session ID required");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()));
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new MemoryEventStore(),
      retryInterval: retryMs,
      onsessioninitialized: (id) => {
        this.#transports.set(id, transport);
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#transports.delete(transport.sessionId);
    };
    await createConformanceServer(this.#context).connect(transport);
    return transport;
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
