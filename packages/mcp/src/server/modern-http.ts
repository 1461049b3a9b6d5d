/**
 * One modern request over HTTP: plain JSON unless a notification comes before
 * the result, then an event stream. Closing the response is the client's way
 * to cancel (revision 2026-07-28, Streamable HTTP, Cancellation).
 */

import type { ServerResponse } from "node:http";
import type { JsonObject } from "@toolcrib/json";
import { formatSseEvent } from "../framing/sse.ts";
import { paramsOf, type RpcRequest } from "../json-rpc.ts";
import { McpError, toRpcError } from "../mcp-error.ts";
import { type HttpCaller, openEventStream, sendJson, writeEvent } from "./http-io.ts";
import { answerModernRequest } from "./modern-request.ts";
import type { McpService } from "./service.ts";

/** A request that is being answered. */
export interface ModernExchange {
  readonly method: string;
  /** Make the answer a stream, if the client takes one, and write a comment to it. */
  keepAlive(): void;
  /** Cancel it from this side. */
  abort(reason: McpError): void;
}

/** A modern request's surroundings. */
export interface ModernHttpContext extends HttpCaller {
  readonly accepts: { readonly json: boolean; readonly events: boolean };
  readonly unreadMaxBytes: number;
  /** Requests that are being answered; this one is in it while it is. */
  readonly exchanges: Set<ModernExchange>;
}

/** Answer `message` on `response`; never rejects. */
export async function answerModernHttp(
  service: McpService,
  message: RpcRequest,
  response: ServerResponse,
  context: ModernHttpContext,
): Promise<void> {
  const { identity, view, accepts, unreadMaxBytes, exchanges } = context;
  const { id, method } = message;
  const controller = new AbortController();
  const { signal } = controller;
  let isStream = false;
  const openStream = () => {
    isStream = true;
    openEventStream(response);
  };
  const notify = (name: string, params: JsonObject) => {
    if (!accepts.events) return;
    if (!isStream) openStream();
    const text = JSON.stringify({ jsonrpc: "2.0", method: name, params });
    writeEvent(response, formatSseEvent(text, { event: "message" }), unreadMaxBytes);
  };
  const exchange: ModernExchange = {
    method,
    keepAlive() {
      if (!accepts.events) return;
      if (!isStream) openStream();
      writeEvent(response, ": keep-alive\n\n", unreadMaxBytes);
    },
    abort: (reason) => controller.abort(reason),
  };
  exchanges.add(exchange);
  const closed = () => controller.abort(new McpError("MCP_CANCELLED", "The client closed the response"));
  response.on("close", closed);
  let status = 200;
  let text: string;
  try {
    const params = paramsOf(message);
    const result = await answerModernRequest(service, { id, method, params, identity, view, signal, notify });
    text = JSON.stringify({ jsonrpc: "2.0", id, result });
  } catch (thrown) {
    if (thrown instanceof McpError && thrown.httpStatus !== undefined) status = thrown.httpStatus;
    text = JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) });
  }
  exchanges.delete(exchange);
  response.off("close", closed);
  if (isStream) {
    if (!response.destroyed) response.end(formatSseEvent(text, { event: "message" }));
  } else if (accepts.json || status !== 200) {
    sendJson(response, status, text);
  } else {
    openStream();
    response.end(formatSseEvent(text, { event: "message" }));
  }
}
