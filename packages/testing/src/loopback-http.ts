/**
 * Functions on `node:http` for all HTTP fixtures: listen on loopback, read a body,
 * respond with a JSON-RPC error, and close all connections. Never listens on
 * anything but 127.0.0.1.
 */

import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Size limit of a request body. */
const bodyMaxBytes = 64 << 20;

/** Listens on 127.0.0.1 and returns the port (a free one for port 0). */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Stops listening and ends every connection, including those with an unfinished response. */
export async function closeHttpServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Reads the body of `request` as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyMaxBytes) throw new Error(`Cannot read a request body of more than ${bodyMaxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Responds with `status` and a JSON-RPC error without a request id. */
export function sendJsonRpcError(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}
