/**
 * Streamable HTTP on the client edge, both eras: a POST per message, answers as
 * JSON or as an event stream; in the legacy era a session, a GET stream, and
 * streams that are resumed with `Last-Event-ID` when they break.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { Dispatcher } from "undici";
import { paramsOf, type RpcId, type RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { encodeHeaderValue, mirroredName } from "../mirrored-headers.ts";
import { modernVersionOf } from "../modern-version.ts";
import { eraOf } from "../protocol.ts";
import {
  displayUrl,
  isEventStream,
  lowerCased,
  networkError,
  type ResponseBody,
  readEvents,
  readRefusal,
  readText,
  statusError,
} from "./http-request.ts";
import type { ClientTransport, SendHints, TransportReceiver } from "./transport.ts";

/** Options of `createHttpTransport`. */
export interface HttpTransportOptions {
  readonly url: string;
  /** Sent with each request; secrets already resolved. */
  readonly headers: { readonly [name: string]: string };
  /** Largest answer or event in bytes. @default 67,108,864 */
  readonly messageMaxBytes?: number;
  /** Times in a row that a broken stream is resumed and brings nothing new before its request fails. @default 5 */
  readonly maxResumptions?: number;
}

const defaultRetryMs = 1000;
const maxRetryMs = 30_000;
/** The GET stream is reopened for as long as the session lives, so its pause has a floor too. */
const minListenPauseMs = 100;
/** Longest wait for the end of a stream after the answer that should end it. */
const lingerMs = 1000;
/** Longest wait for the answer to DELETE; a server that does not answer is left. */
const deleteTimeoutMs = 1000;
/** Longest wait for what an expired session answers to the requests that are on their way. */
const expiryTimeoutMs = 1000;

/** Create a transport to `options.url` over `dispatcher` (an undici Agent or Pool that its owner closes). */
export function createHttpTransport(dispatcher: Dispatcher, options: HttpTransportOptions): ClientTransport {
  const { url } = options;
  const shownUrl = displayUrl(url);
  const target = new URL(url);
  const path = `${target.pathname}${target.search}`;
  const ownHeaders = lowerCased(options.headers);
  const maxBytes = options.messageMaxBytes ?? 64 * 1024 * 1024;
  const maxResumptions = options.maxResumptions ?? 5;
  const closing = new AbortController();
  /** The exchange of each request that waits for its answer. */
  const exchanges = new Map<RpcId, AbortController>();
  /** Requests that the server has not begun to answer. */
  const unseen = new Set<RpcId>();
  let receiver: TransportReceiver | undefined;
  let sessionId: string | undefined;
  let version: string | undefined;
  let isClosed = false;
  let expiredBy: McpError | undefined;
  let expiryTimer: NodeJS.Timeout | undefined;

  function headersFor(extra: { readonly [name: string]: string } = {}): Record<string, string> {
    return {
      ...ownHeaders,
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

  /** Send a request and hand on what comes for it until it is answered. */
  async function ask(message: RpcMessage, id: RpcId, hints: SendHints): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    exchanges.set(id, controller);
    unseen.add(id);
    try {
      const response = await exchange("POST", postHeaders(message, hints), signal, JSON.stringify(message));
      if (response.statusCode < 300) unseen.delete(id);
      if (response.statusCode >= 300) {
        await refused(response, id);
        return;
      }
      if ("method" in message && message.method === "initialize") {
        const given = response.headers["mcp-session-id"];
        if (typeof given === "string" && /^[\x21-\x7e]{1,1024}$/.test(given)) sessionId = given;
      }
      if (isEventStream(response.headers)) await followStream(response.body, id, signal);
      else await receiveBody(response, id);
    } catch (cause) {
      if (!signal.aborted) receiver?.failed(id, networkError(shownUrl, cause));
    } finally {
      exchanges.delete(id);
      unseen.delete(id);
      endExpired();
    }
  }

  /** Send a message that has no answer. */
  async function tell(message: RpcMessage, hints: SendHints): Promise<void> {
    try {
      const { signal } = closing;
      const response = await exchange("POST", postHeaders(message, hints), signal, JSON.stringify(message));
      if (response.statusCode < 300) await response.body.dump();
      else await refused(response, undefined);
    } catch (cause) {
      if (!closing.signal.aborted)
        receiver?.garbage(`a message could not be sent: ${networkError(shownUrl, cause).message}`);
    }
  }

  function postHeaders(message: RpcMessage, hints: SendHints): Record<string, string> {
    return headersFor({ "content-type": "application/json", ...modernHeaders(message), ...hints.headers });
  }

  /** The server answered with a status that is no success. `id` as in `ask`. */
  async function refused(response: Dispatcher.ResponseData, id: RpcId | undefined): Promise<void> {
    const { statusCode } = response;
    const text = await readRefusal(response.body);
    if (sessionId !== undefined && isUnknownSession(statusCode, text)) {
      expire(id);
      return;
    }
    const error = statusError(statusCode, shownUrl, text);
    if (id === undefined) receiver?.garbage(error.message);
    // A JSON-RPC error says more than the status, except where the credentials were refused.
    else if (statusCode < 400 || statusCode === 401 || statusCode === 403 || !receiveError(text, id))
      receiver?.failed(id, error);
  }

  async function receiveBody(response: Dispatcher.ResponseData, id: RpcId): Promise<void> {
    const text = await readText(response.body, maxBytes);
    let value: JsonValue;
    try {
      value = parseJson(text, { maxLength: maxBytes });
    } catch (cause) {
      const type = String(response.headers["content-type"] ?? "no content type");
      const detail = `HTTP ${response.statusCode} with "${type}" and no JSON-RPC answer`;
      receiver?.failed(
        id,
        new McpError("MCP_INVALID_MESSAGE", `The server at ${shownUrl} answered ${detail}`, { cause }),
      );
      return;
    }
    // Nothing more comes for this request.
    if (!handOn(value, id)) receiver?.failed(id, noAnswer("MCP_INVALID_MESSAGE", "does not hold the answer"));
  }

  function noAnswer(code: string, what: string, cause?: unknown): McpError {
    return new McpError(code, `The response of the server at ${shownUrl} ${what}`, { cause });
  }

  /** Hand on what comes for request `id`; resume the stream when it breaks. */
  async function followStream(first: ResponseBody, id: RpcId, signal: AbortSignal): Promise<void> {
    let body: ResponseBody | undefined = first;
    let lastEventId = "";
    let retryMs = defaultRetryMs;
    let isAnswered = false;
    let linger: NodeJS.Timeout | undefined;
    let broken: unknown;
    for (let fruitless = 0; ; fruitless += 1) {
      try {
        const current = body;
        if (current !== undefined) {
          await readEvents(current, maxBytes, {
            event(event) {
              fruitless = 0;
              lastEventId = event.id ?? lastEventId;
              isAnswered = receiveEvent(event.data, id) || isAnswered;
              // A stream that goes on after the answer would hold its connection for nothing.
              if (isAnswered) linger ??= setTimeout(() => current.destroy(), lingerMs);
            },
            id: (value) => {
              lastEventId = value;
            },
            retry: (milliseconds) => {
              retryMs = Math.min(milliseconds, maxRetryMs);
            },
          });
        }
      } catch (cause) {
        broken = cause;
      }
      clearTimeout(linger);
      if (isAnswered || signal.aborted) return;
      const oversized =
        broken instanceof McpError && broken.code === "MCP_MESSAGE_TOO_LARGE" ? broken : undefined;
      if (oversized !== undefined || lastEventId === "" || !isLegacy() || fruitless >= maxResumptions) {
        const lost = noAnswer("MCP_CONNECTION_CLOSED", "ended before the answer came", broken);
        receiver?.failed(id, oversized ?? lost);
        return;
      }
      await sleep(retryMs, signal);
      body = undefined;
      try {
        const headers = headersFor({ accept: "text/event-stream", "last-event-id": lastEventId });
        const response = await exchange("GET", headers, signal);
        if (response.statusCode !== 200 || !isEventStream(response.headers)) {
          await notResumed(response, id);
          return;
        }
        body = response.body;
      } catch (cause) {
        // The server may be restarting; the next round tries again, within the limit.
        broken = cause;
      }
    }
  }

  /** A broken stream cannot be resumed: its request was seen, but its answer is lost. */
  async function notResumed(response: Dispatcher.ResponseData, id: RpcId): Promise<void> {
    const text = await readRefusal(response.body);
    const refusal = statusError(response.statusCode, shownUrl, text);
    receiver?.failed(id, noAnswer("MCP_CONNECTION_CLOSED", "broke and cannot be resumed", refusal));
    if (sessionId !== undefined && isUnknownSession(response.statusCode, text)) expire(undefined);
  }

  /** @returns whether `data` held the answer to `id`. */
  function receiveEvent(data: string, id: RpcId | undefined): boolean {
    if (data === "") return false;
    let value: JsonValue;
    try {
      value = parseJson(data, { maxLength: maxBytes });
    } catch (error) {
      receiver?.garbage(`an event: ${messageOf(error)}`);
      return false;
    }
    return handOn(value, id);
  }

  /** Hand on a message or a batch. @returns whether the answer to `id` is in it. */
  function handOn(value: JsonValue, id: RpcId | undefined): boolean {
    let isAnswer = false;
    for (const one of Array.isArray(value) ? value : [value]) {
      isAnswer ||= isJsonObject(one) && one["method"] === undefined && one["id"] === id;
      receiver?.message(one, id);
    }
    return isAnswer;
  }

  /** @returns whether `text` is a JSON-RPC error, which then is the answer to `id`. */
  function receiveError(text: string, id: RpcId): boolean {
    const error = errorIn(text);
    if (error === undefined) return false;
    receiver?.message({ jsonrpc: "2.0", id, error }, id);
    return true;
  }

  /**
   * The session is gone: request `id` was not looked at, and the others that are
   * on their way are told the same by their own answers, which are waited for.
   */
  function expire(id: RpcId | undefined): void {
    const error = new McpError(
      "MCP_SESSION_EXPIRED",
      `The server at ${shownUrl} no longer knows the session`,
    );
    if (id !== undefined) {
      unseen.delete(id);
      receiver?.failed(id, error);
    }
    if (isClosed) return;
    isClosed = true;
    expiredBy = error;
    expiryTimer = setTimeout(() => {
      unseen.clear();
      endExpired();
    }, expiryTimeoutMs);
    endExpired();
  }

  /** End the conversation once no request of an expired session is left that may not have been looked at. */
  function endExpired(): void {
    if (expiredBy === undefined || unseen.size > 0 || closing.signal.aborted) return;
    clearTimeout(expiryTimer);
    receiver?.closed(expiredBy);
    abortAll(expiredBy);
  }

  function abortAll(reason: McpError): void {
    for (const controller of exchanges.values()) controller.abort(reason);
    closing.abort(reason);
  }

  function isLegacy(): boolean {
    return version === undefined || eraOf(version) === "legacy";
  }

  /** The GET stream of the legacy era: opened once, reopened with growing pauses while the session lives. */
  async function listen(): Promise<void> {
    const { signal } = closing;
    let lastEventId = "";
    let retryMs = defaultRetryMs;
    for (let pauseMs = retryMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxRetryMs)) {
      try {
        const resume = lastEventId === "" ? undefined : { "last-event-id": lastEventId };
        const headers = headersFor({ accept: "text/event-stream", ...resume });
        const response = await exchange("GET", headers, signal);
        if (response.statusCode !== 200 || !isEventStream(response.headers)) {
          // 405: the server offers no such stream. Other refusals are not worth repeating either.
          const text = await readRefusal(response.body);
          if (sessionId !== undefined && isUnknownSession(response.statusCode, text)) expire(undefined);
          return;
        }
        await readEvents(response.body, maxBytes, {
          event(event) {
            // A stream that brings something may be reopened without growing pauses.
            pauseMs = retryMs;
            lastEventId = event.id ?? lastEventId;
            receiveEvent(event.data, undefined);
          },
          id: (value) => {
            lastEventId = value;
          },
          retry: (milliseconds) => {
            retryMs = Math.max(minListenPauseMs, Math.min(milliseconds, maxRetryMs));
            pauseMs = retryMs;
          },
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
      if (isClosed) {
        const isRequest = "method" in message && "id" in message;
        if (isRequest && expiredBy !== undefined) receiver?.failed(message.id, expiredBy);
        return;
      }
      if ("method" in message && "id" in message) {
        void ask(message, message.id, hints);
      } else if ("method" in message && message.method === "notifications/cancelled") {
        // In the modern era closing the stream is the cancellation; in the legacy era the server may keep it open.
        if (isLegacy()) void tell(message, hints);
        exchanges.get(paramsOf(message)["requestId"] as RpcId)?.abort();
      } else {
        const sent = tell(message, hints);
        if ("method" in message && message.method === "notifications/initialized") void sent.then(listen);
      }
    },
    negotiated(to) {
      version = to;
    },
    async close() {
      const wasExpired = expiredBy !== undefined;
      clearTimeout(expiryTimer);
      if (isClosed && !wasExpired) return;
      isClosed = true;
      abortAll(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
      if (sessionId === undefined || wasExpired) return;
      const signal = AbortSignal.timeout(deleteTimeoutMs);
      await exchange("DELETE", headersFor(), signal)
        .then(({ body }) => body.dump())
        .catch(() => {});
    },
  };
}

/**
 * Whether a refusal means that the server does not know our session: 404
 * (2025-11-25, session management), or 400 with words to that effect, which is
 * how servers answer that were made from the SDK's older examples.
 */
function isUnknownSession(status: number, text: string): boolean {
  if (status === 404) return true;
  if (status !== 400) return false;
  const message = errorIn(text)?.["message"];
  return typeof message === "string" && /\bsession\b/i.test(message);
}

/** The JSON-RPC error that is the whole of `text`, if it is one. */
function errorIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    const error = isJsonObject(value) ? value["error"] : undefined;
    return isJsonObject(error) && typeof error["code"] === "number" ? error : undefined;
  } catch {
    // Most refusals are no JSON.
    return undefined;
  }
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
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
  });
}
