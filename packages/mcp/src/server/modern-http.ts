/**
 * One modern request over HTTP: plain JSON unless a notification comes before
 * the result, then an event stream. Closing the response is the client's way
 * to cancel (revision 2026-07-28, Streamable HTTP, Cancellation).
 */

import type { ServerResponse } from "node:http";
import type { JsonObject } from "@toolcrib/json";
import { mcpCancelled } from "../codes.ts";
import { formatSseEvent } from "../framing/sse.ts";
import { paramsOf, type RpcRequest } from "../json-rpc.ts";
import { McpError, toRpcError } from "../mcp-error.ts";
import { type HttpCaller, openEventStream, sendJson } from "./http-io.ts";
import { answerModernRequest } from "./modern-request.ts";
import type { McpService } from "./service.ts";

/** A modern request's surroundings. */
export interface ModernHttpContext extends HttpCaller {
  /** Aborted by this function when the client goes, by its owner at shutdown. */
  readonly controller: AbortController;
  /** Open event streams, for keep-alive comments. */
  readonly streams: Set<ServerResponse>;
}

/** Answer `message` on `response`; never rejects. */
export async function answerModernHttp(
  service: McpService,
  message: RpcRequest,
  response: ServerResponse,
  context: ModernHttpContext,
): Promise<void> {
  const { controller, streams, identity, view } = context;
  let isStream = false;
  response.on("close", () => {
    streams.delete(response);
    controller.abort(new McpError(mcpCancelled, "The client closed the response"));
  });
  const notify = (method: string, params: JsonObject) => {
    if (response.destroyed || response.writableEnded) return;
    if (!isStream) {
      isStream = true;
      openEventStream(response);
      streams.add(response);
    }
    response.write(formatSseEvent(JSON.stringify({ jsonrpc: "2.0", method, params }), { event: "message" }));
  };
  let status = 200;
  let text: string;
  try {
    const { id, method } = message;
    const { signal } = controller;
    const params = paramsOf(message);
    const result = await answerModernRequest(service, { id, method, params, identity, view, signal, notify });
    text = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
  } catch (thrown) {
    if (thrown instanceof McpError && thrown.httpStatus !== undefined) status = thrown.httpStatus;
    text = JSON.stringify({ jsonrpc: "2.0", id: message.id, error: toRpcError(thrown) });
  }
  streams.delete(response);
  if (isStream) response.end(formatSseEvent(text, { event: "message" }));
  else sendJson(response, status, text);
}
