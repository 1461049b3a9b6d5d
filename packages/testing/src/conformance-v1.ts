/**
 * Entry: the conformance server on the first generation of the SDK, over stdio or
 * streamable HTTP. With HTTP, the first line on stdout is its URL.
 *
 *     node packages/testing/src/conformance-v1.ts [--http]
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { localhostHostValidation, localhostOriginValidation } from "@modelcontextprotocol/node";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { createConformanceV1Server } from "./conformance-v1-server.ts";
import { closeHttpServer, listenOnLoopback, readBody, sendJsonRpcError } from "./loopback-http.ts";
import { untilStopped } from "./until-stopped.ts";

const { values } = parseArgs({ options: { http: { type: "boolean", default: false } } });
if (values.http) await serveHttp();
else await createConformanceV1Server().connect(new StdioServerTransport());

async function serveHttp(): Promise<void> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  const httpServer = createServer((request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    answer(request, response, transports).catch((error: unknown) => {
      console.error(error);
      if (!response.headersSent) sendJsonRpcError(response, 500, -32603, "Internal error");
    });
  });
  const port = await listenOnLoopback(httpServer, 0);
  console.log(`http://127.0.0.1:${port}/mcp`);
  await untilStopped();
  await Promise.all([...transports.values()].map((transport) => transport.close()));
  await closeHttpServer(httpServer);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  transports: Map<string, StreamableHTTPServerTransport>,
): Promise<void> {
  const body = request.method === "POST" ? (JSON.parse(await readBody(request)) as unknown) : undefined;
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? transports.get(id) : undefined;
  if (known !== undefined) await known.handleRequest(request, response, body);
  else if (id !== undefined) sendJsonRpcError(response, 404, -32001, "Session not found");
  else if (isInitializeRequest(body)) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened) => void transports.set(opened, transport),
    });
    transport.onclose = () => void transports.delete(transport.sessionId ?? "");
    // The optional members of the SDK's transport lack `undefined` in its type.
    await createConformanceV1Server().connect(
      transport as Parameters<ReturnType<typeof createConformanceV1Server>["connect"]>[0],
    );
    await transport.handleRequest(request, response, body);
  } else sendJsonRpcError(response, 400, -32000, "Bad Request: Session ID required");
}
