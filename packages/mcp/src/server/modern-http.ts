/**
 * One modern request over HTTP: the response is plain JSON, or an event stream
 * if a notification precedes the result. The client cancels by closing the
 * response (revision 2026-07-28, Streamable HTTP, Cancellation).
 */

import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "@toolcrib/json";
import type { LiveValues } from "@toolcrib/lifecycle";
import { formatSseEvent } from "../framing/sse.ts";
import { paramsOf, type RpcRequest } from "../json-rpc.ts";
import { headerMismatch, invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { checkMirroredHeaders } from "../mirrored-headers.ts";
import { modernVersionOf } from "../modern-version.ts";
import { eraOf, rpcCodes } from "../protocol.ts";
import { type HttpCaller, openEventStream, sendJson, traceOf, writeEvent } from "./http-io.ts";
import type { HttpResponse } from "./http-messages.ts";
import { answerModernRequest, unsupportedVersion } from "./modern-request.ts";
import type { McpService } from "./service.ts";
import type { UnreadBytes } from "./unread-bytes.ts";

/** A request that is not answered. */
export interface ModernExchange {
  readonly method: string;
  /** Turns the response into a stream, if the client accepts one, and writes a comment to it. */
  keepAlive(): void;
  /** Cancels the request on the server's side. */
  abort(reason: McpError): void;
}

/** Context of a modern request. */
export interface ModernHttpContext extends HttpCaller {
  readonly accepts: { readonly json: boolean; readonly events: boolean };
  /** `identityKey` of the caller. */
  readonly client: string;
  readonly unread: UnreadBytes;
  readonly unreadMaxBytes: number;
  /** Requests in flight. Contains this one until it is answered. */
  readonly exchanges: LiveValues<ModernExchange>;
}

/** Answers `message` on `response`; never rejects. */
export async function answerModernHttp(
  service: McpService,
  message: RpcRequest,
  response: HttpResponse,
  context: ModernHttpContext,
): Promise<void> {
  // Its client can have left while the request waited for its turn: nothing would cancel it any more.
  if (response.destroyed) return;
  const { identity, view, accepts, exchanges } = context;
  const { id, method } = message;
  const controller = new AbortController();
  const { signal } = controller;
  const answer = new ModernAnswer(response, context);
  const exchange: ModernExchange = {
    method,
    keepAlive: () => answer.keepAlive(),
    abort: (reason) => controller.abort(reason),
  };
  const place = exchanges.add(exchange);
  const closed = () => controller.abort(new McpError("MCP_CANCELLED", "The client closed the response"));
  response.on("close", closed);
  let status = 200;
  let text: string;
  try {
    const params = paramsOf(message);
    const notify = (name: string, notification: JsonObject) => answer.notify(name, notification);
    const httpTrace = traceOf(response.req.headers);
    const request = { id, method, params, identity, view, signal, notify, httpTrace };
    const result = await answerModernRequest(service, request);
    text = JSON.stringify({ jsonrpc: "2.0", id, result });
  } catch (thrown) {
    if (thrown instanceof McpError && thrown.httpStatus !== undefined) status = thrown.httpStatus;
    text = JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) });
  }
  text = context.unread.admit(context.client, id, text);
  exchanges.remove(place);
  response.off("close", closed);
  if (!answer.isStream && (accepts.json || status !== 200)) sendJson(response, status, text);
  else answer.endStream(text);
  context.unread.count(context.client, response);
}

/** The response to a modern request, which becomes an event stream when something precedes the result. */
class ModernAnswer {
  readonly #response: HttpResponse;
  readonly #acceptsEvents: boolean;
  readonly #unreadMaxBytes: number;
  #isStream = false;

  constructor(response: HttpResponse, { accepts, unreadMaxBytes }: ModernHttpContext) {
    this.#response = response;
    this.#acceptsEvents = accepts.events;
    this.#unreadMaxBytes = unreadMaxBytes;
  }

  get isStream(): boolean {
    return this.#isStream;
  }

  notify(method: string, params: JsonObject): void {
    if (!this.#acceptsEvents) return;
    this.#openStream();
    const text = JSON.stringify({ jsonrpc: "2.0", method, params });
    writeEvent(this.#response, formatSseEvent(text, { event: "message" }), this.#unreadMaxBytes);
  }

  keepAlive(): void {
    if (!this.#acceptsEvents) return;
    this.#openStream();
    writeEvent(this.#response, ": keep-alive\n\n", this.#unreadMaxBytes);
  }

  /** Ends the response with the result as an event. */
  endStream(text: string): void {
    this.#openStream();
    if (!this.#response.destroyed) this.#response.end(formatSseEvent(text, { event: "message" }));
  }

  #openStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    openEventStream(this.#response);
  }
}

/**
 * Checks the headers of a modern POST against its body.
 *
 * @throws {McpError} with status 400: -32022, -32602 or -32020.
 */
export function checkModernHeaders(
  service: McpService,
  headers: IncomingHttpHeaders,
  message: RpcRequest,
  caller: HttpCaller,
): void {
  const params = paramsOf(message);
  const headerVersion = headers["mcp-protocol-version"];
  const version = modernVersionOf(params);
  if (typeof headerVersion === "string" && version !== undefined && headerVersion !== version) {
    throw headerMismatch(
      `the header "mcp-protocol-version" says "${headerVersion}", the body says "${version}"`,
    );
  }
  const named = version ?? headerVersion;
  if (typeof named === "string" && eraOf(named) !== "modern") throw unsupportedVersion(named);
  if (version === undefined)
    throw invalidRequest("Each request needs its protocol version in _meta", rpcCodes.invalidParams, 400);
  const name = params["name"];
  const schema =
    message.method === "tools/call" && typeof name === "string"
      ? service.toolInputSchema(caller.view, caller.identity, name)
      : undefined;
  checkMirroredHeaders(headers, message, version, schema);
}
