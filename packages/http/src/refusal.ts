/**
 * Refusals of the HTTP server: an HTTP status and a JSON-RPC error object, in
 * the same form on every path, so that MCP clients, scripts and people can read
 * it. Each is counted, and logged at most once in ten seconds for each code, so
 * that refused clients cannot fill the disk.
 */

import type { Socket } from "node:net";
import type { Logger } from "@toolcrib/diagnostics";
import { type HttpRequest, type HttpResponse, sendJson, toRpcError } from "@toolcrib/mcp";
import { HttpError } from "./http-error.ts";
import type { GatewayMetrics } from "./metrics.ts";

/** A refusal: the answer and its reason. */
export interface Refusal {
  readonly status: number;
  readonly error: HttpError;
  readonly headers?: { readonly [name: string]: string };
}

const logIntervalMs = 10_000;
/** Longest part of a refused body that is read; the connection of a client that sends more is closed. @limit client */
const discardedBodyMaxBytes = 1024 * 1024;
/** JSON-RPC: the request is not valid. */
const invalidRequest = -32600;

/** An error about a fault of the request. */
export function refusalError(code: string, message: string, hint?: string): HttpError {
  return new HttpError(code, message, { hint, rpcCode: invalidRequest });
}

/** Dependencies of a refuser. */
export interface RefuserDeps {
  readonly logger: Logger;
  readonly metrics: Pick<GatewayMetrics, "requestRefused">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Sends refusals. */
export class Refuser {
  readonly #deps: RefuserDeps;
  /** The last log record of each code, and the number of refusals since then. */
  readonly #logged = new Map<string, { at: number; suppressed: number }>();

  constructor(deps: RefuserDeps) {
    this.#deps = deps;
  }

  /** Answers `request` with `refusal` and discards the rest of its body. */
  refuse(request: HttpRequest, response: HttpResponse, { status, error, headers }: Refusal): void {
    // The query is not logged: it can contain a token.
    const path = request.url?.split("?", 1)[0]?.slice(0, 200);
    this.#record(status, error, { method: request.method, path, from: request.socket.remoteAddress });
    discardBody(request);
    sendJson(response, status, bodyOf(error), { "x-content-type-options": "nosniff", ...headers });
  }

  /** Answers invalid HTTP and closes the connection. A lost connection is not a refusal. */
  refuseBroken(socket: Socket, cause: NodeJS.ErrnoException, canAnswer: boolean): void {
    if (isLostConnection(cause)) {
      this.#deps.logger.debug(
        { from: socket.remoteAddress, reason: cause.code },
        "client closed its connection",
      );
      socket.destroy();
      return;
    }
    const { status, phrase, error } = toBrokenRequest(cause);
    this.#record(status, error, { from: socket.remoteAddress });
    if (!canAnswer || !socket.writable) {
      socket.destroy();
      return;
    }
    const body = bodyOf(error);
    socket.end(
      `HTTP/1.1 ${status} ${phrase}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  }

  #record(status: number, error: HttpError, fields: object): void {
    const { logger, metrics, now } = this.#deps;
    metrics.requestRefused(error.code);
    const entry = this.#logged.get(error.code);
    if (entry !== undefined && now() - entry.at < logIntervalMs) {
      entry.suppressed += 1;
      return;
    }
    this.#logged.set(error.code, { at: now(), suppressed: 0 });
    const suppressed = entry?.suppressed ?? 0;
    logger.warn(
      { status, code: error.code, reason: error.message, suppressed, ...fields },
      "request refused",
    );
  }
}

/** Reads and discards the rest of a body, up to a limit. */
export function discardBody(request: HttpRequest): void {
  if (request.complete) return;
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > discardedBodyMaxBytes) request.socket.destroy();
  });
  // The error of a client that left no longer matters.
  request.on("error", () => {});
}

function bodyOf(error: HttpError): string {
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(error) });
}

/** Whether the client closed or reset its connection, also in the middle of a request. */
function isLostConnection({ code = "" }: NodeJS.ErrnoException): boolean {
  const isFromParser = code.startsWith("HPE_") || code === "ERR_HTTP_REQUEST_TIMEOUT";
  return !isFromParser || code === "HPE_INVALID_EOF_STATE";
}

function toBrokenRequest(cause: NodeJS.ErrnoException): {
  readonly status: number;
  readonly phrase: string;
  readonly error: HttpError;
} {
  if (cause.code === "HPE_HEADER_OVERFLOW") {
    const error = refusalError("HTTP_HEADERS_TOO_LARGE", "The headers of the request are too large");
    return { status: 431, phrase: "Request Header Fields Too Large", error };
  }
  if (cause.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const error = refusalError("HTTP_REQUEST_TIMEOUT", "The request did not arrive in its time");
    return { status: 408, phrase: "Request Timeout", error };
  }
  const error = refusalError("HTTP_MALFORMED", "The request is not valid HTTP/1.1");
  return { status: 400, phrase: "Bad Request", error };
}
