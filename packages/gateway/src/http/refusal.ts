/**
 * How the front door says no: an HTTP status and a JSON-RPC error object, the
 * same form on every path, so that MCP clients, scripts and people can read it.
 * Counted and logged, the log at most once in ten seconds for each code: who is
 * refused must not fill the disk.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "@toolcrib/diagnostics";
import { sendJson, toRpcError } from "@toolcrib/mcp";
import { GatewayError } from "../gateway-error.ts";
import type { GatewayMetrics } from "./metrics.ts";

/** A refusal: what to answer and why. */
export interface Refusal {
  readonly status: number;
  readonly error: GatewayError;
  readonly headers?: { readonly [name: string]: string };
}

/** Answers refusals. */
export interface Refuser {
  /** Answer `request` with `refusal`; what is left of its body is not kept. */
  refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void;
  /** Answer what is not even a request, and close the connection. */
  refuseBroken(socket: Socket, cause: NodeJS.ErrnoException, canAnswer: boolean): void;
}

const logIntervalMs = 10_000;
/** Most of a refused body that is read; a client that sends more is cut off. */
const discardedBodyMaxBytes = 1024 * 1024;
/** JSON-RPC: the request is not valid. */
const invalidRequest = -32600;

/** An error that stands for a fault of the request. */
export function refusalError(code: string, message: string, hint?: string): GatewayError {
  return new GatewayError(code, message, { hint, rpcCode: invalidRequest });
}

export function createRefuser(deps: {
  readonly logger: Logger;
  readonly metrics: Pick<GatewayMetrics, "requestRefused">;
  readonly now: () => number;
}): Refuser {
  const { logger, metrics, now } = deps;
  const logged = new Map<string, { at: number; suppressed: number }>();

  function record(status: number, error: GatewayError, fields: object): void {
    metrics.requestRefused(error.code);
    const entry = logged.get(error.code);
    if (entry !== undefined && now() - entry.at < logIntervalMs) {
      entry.suppressed += 1;
      return;
    }
    logged.set(error.code, { at: now(), suppressed: 0 });
    const suppressed = entry?.suppressed ?? 0;
    logger.warn(
      { status, code: error.code, reason: error.message, suppressed, ...fields },
      "request refused",
    );
  }

  return {
    refuse(request, response, { status, error, headers }) {
      // The query stays out of the log: people put tokens there.
      const path = request.url?.split("?", 1)[0]?.slice(0, 200);
      record(status, error, { method: request.method, path, from: request.socket.remoteAddress });
      discardBody(request);
      sendJson(response, status, bodyOf(error), { "x-content-type-options": "nosniff", ...headers });
    },
    refuseBroken(socket, cause, canAnswer) {
      const { status, phrase, error } = toBrokenRequest(cause);
      record(status, error, { from: socket.remoteAddress });
      if (!canAnswer || !socket.writable || cause.code === "ECONNRESET") {
        socket.destroy();
        return;
      }
      const body = bodyOf(error);
      socket.end(
        `HTTP/1.1 ${status} ${phrase}\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    },
  };
}

/** Read what is left of a body without keeping it, up to a limit. */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > discardedBodyMaxBytes) request.socket.destroy();
  });
  // A client that goes half-way is of no interest any more.
  request.on("error", () => {});
}

function bodyOf(error: GatewayError): string {
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(error) });
}

function toBrokenRequest(cause: NodeJS.ErrnoException): {
  readonly status: number;
  readonly phrase: string;
  readonly error: GatewayError;
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
