/**
 * HTTP primitives of the server side: bounded bodies, JSON responses, and event
 * streams with a limit for unread bytes.
 */

import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { messageOf } from "@toolcrib/diagnostics";
import { estimateValues, type JsonLimits, type JsonValue } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import { notUtf8 } from "../framing/lines.ts";
import { parseMessage } from "../framing/parse-message.ts";
import type { RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import { type HeldBody, smallMaxBytes, tooManyBytes } from "./request-bytes.ts";
import type { TraceHeaders, View } from "./service.ts";

/** The caller of one request, authenticated by the owner of the HTTP server. */
export interface HttpCaller {
  readonly view: View;
  readonly identity: Identity;
  /** Whether it is still accepted: a body can arrive long after its headers. @default it is */
  readonly isAccepted?: (() => boolean) | undefined;
}

/** Limits of a body. */
export type BodyLimits = Required<JsonLimits>;

/** Values in a body: some 25 MB in memory. */
export const defaultBodyMaxValues = 250_000;

/** Bytes of a body over its limit that are read and discarded, so that the client receives the error response. @limit client */
const refusedBodyMaxBytes = 64 * 1024 * 1024;

/** @throws {McpError} 401 where the token of `caller` was revoked while its body arrived */
export function requireAccepted({ isAccepted }: HttpCaller): void {
  if (isAccepted?.() === false) throw invalidRequest("The token is not accepted any more", undefined, 401);
}

/**
 * Reads the whole body as UTF-8, and counts it as `held` while it arrives.
 *
 * @throws {McpError} 413 past `maxBytes`, 503 past the share of the client, 400 if the body ends early or is not UTF-8.
 */
export function readBody(request: HttpRequest, maxBytes: number, held: HeldBody): string | Promise<string> {
  const { wholeBody } = request;
  if (wholeBody !== undefined) {
    if (wholeBody.length > maxBytes) throw tooLarge(maxBytes);
    if (!held.add(wholeBody.length)) throw tooManyBytes();
    return decode(wholeBody);
  }
  return new Promise((resolve, reject) => {
    const endedEarly = (cause?: Error) =>
      reject(new McpError("MCP_INVALID_MESSAGE", "The body ended early", { httpStatus: 400, cause }));
    if (request.destroyed) endedEarly();
    let chunks: Buffer[] = [];
    let length = 0;
    let hasRoom = true;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      hasRoom &&= held.add(chunk.length);
      if (length <= maxBytes && hasRoom) {
        chunks.push(chunk);
        return;
      }
      // The rest is read and discarded, so that the client receives the error.
      chunks = [];
      held[Symbol.dispose]();
      if (length > maxBytes + refusedBodyMaxBytes) {
        request.pause();
        reject(tooLarge(maxBytes));
      }
    });
    request.on("end", () => {
      if (length > maxBytes) reject(tooLarge(maxBytes));
      else if (!hasRoom) reject(tooManyBytes());
      else {
        const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        try {
          resolve(decode(bytes));
        } catch (error) {
          reject(error);
        }
      }
    });
    // Node reports a client that disconnects early as an error (ECONNRESET).
    request.on("error", endedEarly);
  });
}

/** @throws {McpError} -32700 with status 400 for invalid UTF-8, of which other text would be passed on. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidRequest(`Parse error: ${notUtf8}`, rpcCodes.parseError, 400);
  return bytes.toString("utf8");
}

/**
 * The error of a body that is not read. Over HTTP its answer names no request, also where the beginning of the body
 * shows an id: an input that is not accepted is answered with a status and, at most, an error response that has no id
 * (transports, "Sending Messages to the Server"), and the client knows by the connection which request it answers.
 */
function tooLarge(maxBytes: number): McpError {
  return new McpError("MCP_MESSAGE_TOO_LARGE", `The body is larger than ${maxBytes} bytes`, {
    rpcCode: rpcCodes.invalidRequest,
    httpStatus: 413,
  });
}

/** Parses the body of a request. @throws {McpError} -32700 with status 400. */
export function parseBody(text: string, limits: JsonLimits): JsonValue {
  try {
    return parseMessage(text, limits);
  } catch (error) {
    throw invalidRequest(`Parse error: ${messageOf(error)}`, rpcCodes.parseError, 400);
  }
}

/** Counts the memory of the values of a body in addition to its text. */
export function holdValues(text: string, held: HeldBody): void {
  if (text.length > smallMaxBytes) held.charge(estimateValues(text) * bytesPerValue);
}

/** Memory of a value, such as an empty object in an array. */
const bytesPerValue = 64;

/** Whether the body is declared as JSON. A browser cannot send that across origins without a preflight request. */
export function isJsonBody(request: HttpRequest): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

/** Returns the trace context in the headers of a request. */
export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceHeaders | undefined {
  if (typeof traceparent !== "string") return undefined;
  return { traceparent, tracestate: typeof tracestate === "string" ? tracestate : undefined };
}

/** Sends a JSON response. */
export function sendJson(
  response: HttpResponse,
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

/** Sends a JSON-RPC error with its HTTP status, 400 by default. */
export function sendError(
  response: HttpResponse,
  thrown: unknown,
  id: RpcId | null = null,
  headers: { readonly [name: string]: string } = {},
): void {
  const status = (thrown instanceof McpError ? thrown.httpStatus : undefined) ?? 400;
  sendJson(response, status, JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) }), {
    ...headers,
    // A body that was not read to its end makes its connection unusable for other requests.
    ...(status === 413 && !response.req.complete ? { connection: "close" } : undefined),
  });
}

/** Starts an event stream. */
export function openEventStream(
  response: HttpResponse,
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

/** Unread bytes past which a client's stream is closed. */
export const defaultUnreadMaxBytes = 4 * 1024 * 1024;

/**
 * Writes `text` to an event stream. If more than `unreadMaxBytes` of earlier
 * output are unread, closes the connection instead, which frees that memory.
 */
export function writeEvent(response: HttpResponse, text: string, unreadMaxBytes: number): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > unreadMaxBytes) response.destroy();
  else response.write(text);
}

/** Returns the media types that a client accepts; without the header, all of them. */
export function acceptedBy(request: HttpRequest): { readonly json: boolean; readonly events: boolean } {
  const accept = request.headers.accept;
  if (accept === undefined || accept.includes("*/*")) return { json: true, events: true };
  return {
    json: accept.includes("application/json") || accept.includes("application/*"),
    events: accept.includes("text/event-stream") || accept.includes("text/*"),
  };
}

/** Waits for `work`, at most `timeoutMs` milliseconds. */
export async function waitAtMost(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Creates the error of a request that is refused for lack of capacity. */
export function overloaded(message: string): McpError {
  return new McpError("MCP_OVERLOADED", message, { httpStatus: 503, hint: "try again later" });
}

/** Creates the error of a request that a gateway which stops does not take, or gives up. */
export function shuttingDown(): McpError {
  return new McpError("MCP_SHUTTING_DOWN", "The gateway is shutting down", {
    httpStatus: 503,
    hint: "try again later",
  });
}

/** Creates the error of a client whose share of `what`, such as sessions, is used up. */
export function overQuota(what: string): McpError {
  return new McpError("MCP_SESSION_QUOTA", `This client has used up its share of ${what}`, {
    httpStatus: 503,
    hint: `end some of its ${what} first`,
  });
}
