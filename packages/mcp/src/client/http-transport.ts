/**
 * Streamable HTTP on the client edge, both eras: a POST per message, answers as
 * JSON or as an event stream; in the legacy era a session, a GET stream, and
 * streams that are resumed with `Last-Event-ID` when they break.
 */

import { parseJson } from "@toolcrib/json";
import type { Dispatcher } from "undici";
import { mcpConnectionClosed, mcpSessionExpired } from "../codes.ts";
import { paramsOf, type RpcId, type RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { encodeHeaderValue, mirroredName } from "../mirrored-headers.ts";
import { modernVersionOf } from "../modern-version.ts";
import { eraOf } from "../protocol.ts";
import { displayUrl, networkError, readEvents, readText, statusError } from "./http-request.ts";
import type { ClientTransport, SendHints, TransportReceiver } from "./transport.ts";

/** Options of `createHttpTransport`. */
export interface HttpTransportOptions {
  readonly url: string;
  /** Sent with each request; secrets already resolved. */
  readonly headers: { readonly [name: string]: string };
  /** Largest answer or event in bytes. @default 67,108,864 */
  readonly messageMaxBytes?: number;
  /** Times a broken stream is resumed before its request fails. @default 5 */
  readonly maxResumptions?: number;
}

const defaultRetryMs = 1000;
const maxRetryMs = 30_000;

/** Create a transport to `options.url` over `dispatcher` (an undici Agent or Pool that its owner closes). */
export function createHttpTransport(dispatcher: Dispatcher, options: HttpTransportOptions): ClientTransport {
  const { url } = options;
  const shownUrl = displayUrl(url);
  const target = new URL(url);
  const path = `${target.pathname}${target.search}`;
  const maxBytes = options.messageMaxBytes ?? 64 * 1024 * 1024;
  const maxResumptions = options.maxResumptions ?? 5;
  const closing = new AbortController();
  const streams = new Map<RpcId, AbortController>();
  let receiver: TransportReceiver | undefined;
  let sessionId: string | undefined;
  let version: string | undefined;
  let isClosed = false;

  function headersFor(extra: { readonly [name: string]: string } = {}): Record<string, string> {
    return {
      ...options.headers,
      accept: "application/json, text/event-stream",
      ...(sessionId === undefined ? undefined : { "mcp-session-id": sessionId }),
      ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
      ...extra,
    };
  }

  function exchange(
    method: "GET" | "POST" | "DELETE",
    headers: Record<string, string>,
    signal: AbortSignal,
    body?: string,
  ) {
    return dispatcher.request({
      origin: target.origin,
      path,
      method,
      headers,
      body,
      signal,
      // The caller's deadline ends a call; these only end a dead connection.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async function post(message: RpcMessage, hints: SendHints): Promise<void> {
    const id = "method" in message && "id" in message ? message.id : undefined;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, closing.signal]);
    if (id !== undefined) streams.set(id, controller);
    try {
      const headers = headersFor({
        "content-type": "application/json",
        ...modernHeaders(message),
        ...hints.headers,
      });
      const response = await exchange("POST", headers, signal, JSON.stringify(message));
      await answered(response, id, message, signal);
    } catch (cause) {
      if (id !== undefined && !signal.aborted) receiver?.failed(id, networkError(shownUrl, cause));
      else if (!signal.aborted) receiver?.garbage(`a message could not be sent: ${(cause as Error).message}`);
    } finally {
      if (id !== undefined) streams.delete(id);
    }
  }

  async function answered(
    response: Dispatcher.ResponseData,
    id: RpcId | undefined,
    message: RpcMessage,
    signal: AbortSignal,
  ): Promise<void> {
    const { statusCode, body } = response;
    const contentType = String(response.headers["content-type"] ?? "");
    if (statusCode === 404 && sessionId !== undefined) {
      await body.dump();
      expire(id);
      return;
    }
    if (statusCode >= 400) {
      const text = await readText(body, 1024 * 1024);
      if (id === undefined) receiver?.garbage(statusError(statusCode, shownUrl, text).message);
      // A JSON-RPC error in the body says more than the status.
      else if (!receiveError(text, id)) receiver?.failed(id, statusError(statusCode, shownUrl, text));
      return;
    }
    if (statusCode >= 300) {
      await body.dump();
      const hint = "redirects are not followed; use the final URL";
      const error = statusError(statusCode, shownUrl, "");
      if (id !== undefined)
        receiver?.failed(id, new McpError(error.code, error.message, { hint, data: error.data }));
      return;
    }
    if ("method" in message && message.method === "initialize") {
      const given = response.headers["mcp-session-id"];
      if (typeof given === "string" && /^[\x21-\x7e]{1,1024}$/.test(given)) sessionId = given;
    }
    if (id === undefined || statusCode === 202) {
      await body.dump();
      if (id !== undefined) receiver?.failed(id, statusError(statusCode, shownUrl, "no answer to a request"));
      return;
    }
    if (contentType.startsWith("text/event-stream")) await followStream(body, id, signal);
    else {
      const value = parseJson(await readText(body, maxBytes), { maxLength: maxBytes });
      for (const one of Array.isArray(value) ? value : [value]) receiver?.message(one, id);
    }
  }

  /** Hand on what comes for request `id`; resume the stream when it breaks. */
  async function followStream(
    first: Dispatcher.ResponseData["body"],
    id: RpcId,
    signal: AbortSignal,
  ): Promise<void> {
    let body = first;
    let lastEventId: string | undefined;
    let retryMs = defaultRetryMs;
    let isAnswered = false;
    for (let resumptions = 0; ; resumptions += 1) {
      let broken: unknown;
      try {
        await readEvents(body, maxBytes, {
          event(event) {
            lastEventId = event.id ?? lastEventId;
            isAnswered = receiveEvent(event.data, id) || isAnswered;
          },
          retry: (milliseconds) => (retryMs = Math.min(milliseconds, maxRetryMs)),
        });
      } catch (cause) {
        broken = cause;
      }
      if (isAnswered || signal.aborted) return;
      const canResume = lastEventId !== undefined && isLegacy() && resumptions < maxResumptions;
      if (!canResume) {
        const text = `The stream of the server at ${shownUrl} ended before the answer came`;
        receiver?.failed(id, new McpError(mcpConnectionClosed, text, { cause: broken }));
        return;
      }
      await sleep(retryMs, signal);
      const headers = headersFor({ accept: "text/event-stream", "last-event-id": lastEventId as string });
      const response = await exchange("GET", headers, signal);
      if (response.statusCode !== 200) {
        await response.body.dump();
        receiver?.failed(id, statusError(response.statusCode, shownUrl, "the stream cannot be resumed"));
        return;
      }
      body = response.body;
    }
  }

  /** @returns whether `data` held the answer to `id`. */
  function receiveEvent(data: string, id: RpcId | undefined): boolean {
    if (data === "") return false;
    let value: unknown;
    try {
      value = parseJson(data, { maxLength: maxBytes });
    } catch (error) {
      receiver?.garbage(`an event: ${(error as Error).message}`);
      return false;
    }
    let isAnswer = false;
    for (const one of Array.isArray(value) ? value : [value]) {
      const { id: itsId, method } = one as { id?: unknown; method?: unknown };
      isAnswer ||= method === undefined && itsId === id;
      receiver?.message(one, id);
    }
    return isAnswer;
  }

  function receiveError(text: string, id: RpcId): boolean {
    try {
      const value = parseJson(text) as { error?: { code?: unknown } };
      if (typeof value?.error?.code !== "number") return false;
      receiver?.message({ ...value, id });
      return true;
    } catch {
      return false;
    }
  }

  function expire(id: RpcId | undefined): void {
    const error = new McpError(mcpSessionExpired, `The server at ${shownUrl} no longer knows the session`);
    if (id !== undefined) receiver?.failed(id, error);
    end(error);
  }

  function end(error: McpError): void {
    if (isClosed) return;
    isClosed = true;
    receiver?.closed(error);
    closing.abort(error);
  }

  function isLegacy(): boolean {
    return version === undefined || eraOf(version) === "legacy";
  }

  /** The GET stream of the legacy era: opened once, reopened with growing pauses while the session lives. */
  async function listen(): Promise<void> {
    const { signal } = closing;
    let lastEventId: string | undefined;
    for (let pauseMs = defaultRetryMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxRetryMs)) {
      try {
        const resume = lastEventId === undefined ? undefined : { "last-event-id": lastEventId };
        const response = await exchange(
          "GET",
          headersFor({ accept: "text/event-stream", ...resume }),
          signal,
        );
        if (response.statusCode === 404 && sessionId !== undefined) {
          await response.body.dump();
          expire(undefined);
          return;
        }
        if (response.statusCode !== 200) {
          // 405: the server offers no such stream. Other refusals are not worth repeating either.
          await response.body.dump();
          return;
        }
        await readEvents(response.body, maxBytes, {
          event(event) {
            pauseMs = defaultRetryMs;
            lastEventId = event.id ?? lastEventId;
            receiveEvent(event.data, undefined);
          },
          retry: (milliseconds) => (pauseMs = Math.min(milliseconds, maxRetryMs)),
        });
      } catch (cause) {
        if (!signal.aborted)
          receiver?.garbage(`the GET stream broke: ${networkError(shownUrl, cause).message}`);
      }
      await sleep(pauseMs, signal).catch(() => {});
    }
  }

  return {
    kind: "streamable_http",
    async open(to) {
      receiver = to;
    },
    send(message, hints = {}) {
      // Cancelling a modern request is closing its stream, which `abandon` does.
      if (!isLegacy() && "method" in message && message.method === "notifications/cancelled") return;
      void post(message, hints);
      if ("method" in message && message.method === "notifications/initialized") void listen();
    },
    abandon(id) {
      streams.get(id)?.abort();
    },
    negotiated(to) {
      version = to;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (sessionId !== undefined) {
        // Polite and bounded: a server that does not answer is left.
        const signal = AbortSignal.timeout(1000);
        await exchange("DELETE", headersFor(), signal).then(
          ({ body }) => body.dump(),
          () => {},
        );
      }
      closing.abort(new McpError(mcpConnectionClosed, "The connection was closed"));
    },
  };
}

function modernHeaders(message: RpcMessage): { readonly [name: string]: string } | undefined {
  if (!("method" in message)) return undefined;
  const version = modernVersionOf(paramsOf(message));
  if (version === undefined) return undefined;
  const name = mirroredName(message.method, paramsOf(message));
  return {
    "mcp-protocol-version": version,
    "mcp-method": message.method,
    ...(name === undefined ? undefined : { "mcp-name": encodeHeaderValue(name) }),
  };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", aborted);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", aborted, { once: true });
  });
}
