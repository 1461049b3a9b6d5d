/**
 * The legacy HTTP+SSE transport on the client edge (2024-11-05): one GET stream
 * for everything that comes, POSTs to the URL that its first event names. That
 * URL must be of the same origin, since credentials go there.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { parseJson } from "@toolcrib/json";
import type { Dispatcher } from "undici";
import type { RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import {
  displayUrl,
  isEventStream,
  lowerCased,
  networkError,
  type ResponseBody,
  readEvents,
  readRefusal,
  statusError,
} from "./http-request.ts";
import type { ClientTransport, TransportReceiver } from "./transport.ts";

/** Options of `createSseTransport`. */
export interface SseTransportOptions {
  readonly url: string;
  /** Sent with each request; secrets already resolved. */
  readonly headers: { readonly [name: string]: string };
  /** Largest event in characters. @default 67,108,864 */
  readonly messageMaxBytes?: number;
}

/** Create a transport to `options.url` over `dispatcher` (an undici Agent or Pool that its owner closes). */
export function createSseTransport(dispatcher: Dispatcher, options: SseTransportOptions): ClientTransport {
  const { url } = options;
  const shownUrl = displayUrl(url);
  const base = new URL(url);
  const ownHeaders = lowerCased(options.headers);
  const maxBytes = options.messageMaxBytes ?? 64 * 1024 * 1024;
  const closing = new AbortController();
  let receiver: TransportReceiver | undefined;
  let messages: URL | undefined;
  let version: string | undefined;
  let isClosed = false;

  function end(error: McpError): void {
    if (isClosed) return;
    isClosed = true;
    closing.abort(error);
    receiver?.closed(error);
  }

  async function post(message: RpcMessage, to: URL): Promise<void> {
    const id = "method" in message && "id" in message ? message.id : undefined;
    try {
      const response = await dispatcher.request({
        origin: to.origin,
        path: `${to.pathname}${to.search}`,
        method: "POST",
        headers: {
          ...ownHeaders,
          "content-type": "application/json",
          ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
        },
        body: JSON.stringify(message),
        signal: closing.signal,
      });
      if (response.statusCode < 300) {
        await response.body.dump();
        return;
      }
      const error = statusError(response.statusCode, shownUrl, await readRefusal(response.body));
      if (response.statusCode !== 404) throw error;
      const text = `The server at ${shownUrl} no longer knows the session`;
      const expired = new McpError("MCP_SESSION_EXPIRED", text, { cause: error });
      if (id !== undefined) receiver?.failed(id, expired);
      end(expired);
    } catch (cause) {
      if (closing.signal.aborted) return;
      const error = networkError(shownUrl, cause);
      if (id !== undefined) receiver?.failed(id, error);
      else receiver?.garbage(`a message could not be sent: ${error.message}`);
    }
  }

  function receive(data: string): void {
    try {
      const value = parseJson(data, { maxLength: maxBytes });
      for (const one of Array.isArray(value) ? value : [value]) receiver?.message(one);
    } catch (error) {
      receiver?.garbage(`an event: ${messageOf(error)}`);
    }
  }

  /** Where messages are POSTed to. @throws {McpError} `MCP_UNREACHABLE` for another origin. */
  function endpointOf(data: string): URL {
    const named = URL.canParse(data, base) ? new URL(data, base) : undefined;
    if (named?.origin === base.origin) return named;
    throw new McpError("MCP_UNREACHABLE", `The server at ${shownUrl} names an endpoint of another origin`, {
      hint: "credentials are sent to the endpoint, so it must be where the stream is",
    });
  }

  /** Read the stream to its end. @param onEndpoint called once the endpoint is known. */
  async function follow(body: ResponseBody, onEndpoint: () => void): Promise<void> {
    await readEvents(body, maxBytes, {
      event({ event, data }) {
        if (event === "message") receive(data);
        else if (event === "endpoint" && messages === undefined) {
          messages = endpointOf(data);
          onEndpoint();
        }
      },
    });
  }

  return {
    kind: "sse",
    async open(to, signal) {
      receiver = to;
      const opening = AbortSignal.any([signal, closing.signal]);
      const response = await dispatcher
        .request({
          origin: base.origin,
          path: `${base.pathname}${base.search}`,
          method: "GET",
          headers: { ...ownHeaders, accept: "text/event-stream" },
          signal: opening,
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        .catch((cause: unknown) => {
          if (signal.aborted) throw signal.reason;
          throw networkError(shownUrl, cause);
        });
      const { statusCode, headers, body } = response;
      if (statusCode !== 200) throw statusError(statusCode, shownUrl, await readRefusal(body));
      if (!isEventStream(headers)) {
        body.destroy();
        const type = String(headers["content-type"] ?? "no content type");
        throw new McpError(
          "MCP_UNREACHABLE",
          `The server at ${shownUrl} answered with "${type}", not a stream`,
          {
            hint: "check the URL, and whether the server speaks this transport (sse or streamable_http)",
          },
        );
      }
      await new Promise<void>((resolve, reject) => {
        void follow(body, resolve)
          .then(
            () => undefined,
            (cause: unknown) => cause,
          )
          .then((cause) => {
            const text = `The stream of the server at ${shownUrl} ended`;
            const error =
              cause instanceof McpError ? cause : new McpError("MCP_CONNECTION_CLOSED", text, { cause });
            reject(signal.aborted ? signal.reason : error);
            end(error);
          });
      });
    },
    send(message) {
      if (messages !== undefined && !isClosed) void post(message, messages);
    },
    negotiated(to) {
      version = to;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      closing.abort(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
    },
  };
}
