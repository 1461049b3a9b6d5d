/** Serves a server of the SDK's first generation over streamable HTTP, on loopback, with one server for each session. */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { closeHttpServer, listenOnLoopback, readBody, sendJsonRpcError } from "../loopback-http.ts";

/** A server on HTTP. */
export interface ServedV1 extends AsyncDisposable {
  readonly url: string;
}

/** Starts to serve requests of this machine. @param create makes the server of a session @param port @default a free one */
export async function serveV1(create: () => Pick<Server, "connect">, port = 0): Promise<ServedV1> {
  // Loaded here, because every process of tests loads this file, and few serve.
  const [hosts, http, types] = await Promise.all([
    import("@modelcontextprotocol/node"),
    import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = request.method === "POST" ? (JSON.parse(await readBody(request)) as unknown) : undefined;
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (known !== undefined) await known.handleRequest(request, response, body);
    else if (id !== undefined) sendJsonRpcError(response, 404, -32001, "Session not found");
    else if (types.isInitializeRequest(body)) {
      const transport = new http.StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (opened) => void transports.set(opened, transport),
      });
      transport.onclose = () => void transports.delete(transport.sessionId ?? "");
      // The optional members of the SDK's transport lack `undefined` in its type.
      await create().connect(transport as Parameters<Server["connect"]>[0]);
      await transport.handleRequest(request, response, body);
    } else sendJsonRpcError(response, 400, -32000, "Bad Request: Session ID required");
  };
  const isLocalHost = hosts.localhostHostValidation();
  const isLocalOrigin = hosts.localhostOriginValidation();
  const server = createServer((request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      if (!response.headersSent) sendJsonRpcError(response, 500, -32603, "Internal error");
    });
  });
  const listening = await listenOnLoopback(server, port);
  return {
    url: `http://127.0.0.1:${listening}/mcp`,
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
      await closeHttpServer(server);
    },
  };
}
