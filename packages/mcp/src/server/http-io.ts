/**
 * Small pieces of HTTP for the adapters of this folder: read a bounded body,
 * answer with JSON, open an event stream.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Identity } from "@toolcrib/tool";
import { mcpMessageTooLarge } from "../codes.ts";
import type { RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { View } from "./service.ts";

/** One request's caller, as the owner of the HTTP server established it. */
export interface HttpCaller {
  readonly view: View;
  readonly identity: Identity;
}

/**
 * Read the whole body as UTF-8.
 *
 * @throws {McpError} 413 past `maxBytes`, 400 when the client stops half-way.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = () =>
    new McpError(mcpMessageTooLarge, `The body is larger than ${maxBytes} bytes`, {
      rpcCode: rpcCodes.invalidRequest,
      httpStatus: 413,
    });
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        request.pause();
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.on("end", () => {
      resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)).toString("utf8"));
    });
    request.on("error", (cause) =>
      reject(invalidRequest(`The body ended early: ${cause.message}`, undefined, 400)),
    );
  });
}

/** Answer with a JSON text. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: { readonly [name: string]: string } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Answer with a JSON-RPC error and the HTTP status that it carries (400 when it carries none). */
export function sendError(
  response: ServerResponse,
  thrown: unknown,
  id: RpcId | null = null,
  headers: { readonly [name: string]: string } = {},
): void {
  const status = (thrown instanceof McpError ? thrown.httpStatus : undefined) ?? 400;
  const isTooLarge = status === 413;
  sendJson(response, status, JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) }), {
    ...headers,
    // What is left of the body is not read; the connection cannot be used again.
    ...(isTooLarge ? { connection: "close" } : undefined),
  });
}

/** Start an event stream. */
export function openEventStream(
  response: ServerResponse,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    ...headers,
  });
  response.flushHeaders();
}

/** The media types that a client accepts, judged leniently: an absent header accepts everything. */
export function acceptedBy(request: IncomingMessage): { readonly json: boolean; readonly events: boolean } {
  const accept = request.headers.accept;
  if (accept === undefined || accept.includes("*/*")) return { json: true, events: true };
  return {
    json: accept.includes("application/json") || accept.includes("application/*"),
    events: accept.includes("text/event-stream") || accept.includes("text/*"),
  };
}
