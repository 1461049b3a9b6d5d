/**
 * Small pieces of HTTP for the adapters of this folder: read a bounded body,
 * answer with JSON, open an event stream and write to it within bounds.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "@toolcrib/diagnostics";
import { type JsonLimits, type JsonValue, parseJson } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import type { RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { View } from "./service.ts";

/** One request's caller, as the owner of the HTTP server established it. */
export interface HttpCaller {
  readonly view: View;
  readonly identity: Identity;
}

/** A body past its limit is read on and thrown away up to so many bytes, so that the client gets to see the refusal. */
const refusedBodyMaxBytes = 64 * 1024 * 1024;

/**
 * Read the whole body as UTF-8.
 *
 * @throws {McpError} 413 past `maxBytes`, 400 when the client stops half-way.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let length = 0;
    const tooLarge = () =>
      reject(
        new McpError("MCP_MESSAGE_TOO_LARGE", `The body is larger than ${maxBytes} bytes`, {
          rpcCode: rpcCodes.invalidRequest,
          httpStatus: 413,
        }),
      );
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (length > maxBytes + refusedBodyMaxBytes) {
        request.pause();
        tooLarge();
      }
    });
    request.on("end", () => {
      if (length > maxBytes) tooLarge();
      else resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString("utf8"));
    });
    const endedEarly = (cause: Error) =>
      reject(new McpError("MCP_INVALID_MESSAGE", "The body ended early", { httpStatus: 400, cause }));
    // A client that goes away half-way is an error too (ECONNRESET, from Node).
    request.on("error", endedEarly);
  });
}

/** Parse a request's body. @throws {McpError} -32700 with status 400. */
export function parseBody(text: string, limits: JsonLimits): JsonValue {
  try {
    return parseJson(text, limits);
  } catch (error) {
    throw invalidRequest(`Parse error: ${messageOf(error)}`, rpcCodes.parseError, 400);
  }
}

/** Whether the body is said to be JSON. A browser cannot send that across origins without asking first. */
export function isJsonBody(request: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "");
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
  sendJson(response, status, JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) }), {
    ...headers,
    // A body past all bounds was not read to its end; its connection cannot be used again.
    ...(status === 413 && !response.req.complete ? { connection: "close" } : undefined),
  });
}

/** Start an event stream. */
export function openEventStream(
  response: ServerResponse,
  headers: { readonly [name: string]: string } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    ...headers,
  });
  response.flushHeaders();
}

/** Bytes that a response holds for a client which does not read; past that its stream is cut. */
export const defaultUnreadMaxBytes = 4 * 1024 * 1024;

/**
 * Write `text` to an event stream. When more than `unreadMaxBytes` of what was
 * written before wait to be read, the client does not read: the connection is
 * cut instead, which frees what it held.
 */
export function writeEvent(response: ServerResponse, text: string, unreadMaxBytes: number): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > unreadMaxBytes) response.destroy();
  else response.write(text);
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

/** Wait until `count` is zero, at most `timeoutMs`. */
export async function untilZero(count: () => number, timeoutMs: number): Promise<void> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, timeoutMs);
  while (count() > 0 && !isLate) await new Promise((resolve) => setTimeout(resolve, 10));
  clearTimeout(timer);
}
