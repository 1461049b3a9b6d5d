/**
 * The legacy HTTP+SSE transport on the client edge (2024-11-05): one GET stream
 * for everything that comes, POSTs to the URL that its first event names. That
 * URL must be of the same origin, since credentials go there.
 */

import { parseJson } from "@toolcrib/json";
import type { Dispatcher } from "undici";
import { mcpConnectionClosed, mcpUnreachable } from "../codes.ts";
import type { RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { displayUrl, networkError, readEvents, readText, statusError } from "./http-request.ts";
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

  async function post(message: RpcMessage): Promise<void> {
    const id = "method" in message && "id" in message ? message.id : undefined;
    try {
      if (messages === undefined) throw new McpError(mcpConnectionClosed, "The stream is not open");
      const response = await dispatcher.request({
        origin: messages.origin,
        path: `${messages.pathname}${messages.search}`,
        method: "POST",
        headers: {
          ...options.headers,
          "content-type": "application/json",
          ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
        },
        body: JSON.stringify(message),
        signal: closing.signal,
      });
      const text = await readText(response.body, 1024 * 1024);
      if (response.statusCode >= 300) throw statusError(response.statusCode, shownUrl, text);
    } catch (cause) {
      if (closing.signal.aborted) return;
      const error = networkError(shownUrl, cause);
      if (id !== undefined) receiver?.failed(id, error);
      else receiver?.garbage(error.message);
    }
  }

  function receive(data: string): void {
    try {
      const value = parseJson(data, { maxLength: maxBytes });
      for (const one of Array.isArray(value) ? value : [value]) receiver?.message(one);
    } catch (error) {
      receiver?.garbage(`an event: ${(error as Error).message}`);
    }
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
          headers: { ...options.headers, accept: "text/event-stream" },
          signal: opening,
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        .catch((cause: unknown) => {
          if (signal.aborted) throw signal.reason;
          throw networkError(shownUrl, cause);
        });
      if (response.statusCode !== 200) {
        throw statusError(response.statusCode, shownUrl, await readText(response.body, 64 * 1024));
      }
      await new Promise<void>((resolve, reject) => {
        void readEvents(response.body, maxBytes, {
          event({ event, data }) {
            if (event === "message") receive(data);
            else if (event === "endpoint" && messages === undefined) {
              const named = URL.canParse(data, base) ? new URL(data, base) : undefined;
              if (named?.origin === base.origin) {
                messages = named;
                resolve();
              } else {
                const text = `The server at ${shownUrl} names an endpoint of another origin`;
                reject(new McpError(mcpUnreachable, text));
                closing.abort();
              }
            }
          },
        })
          .catch((cause: unknown) => cause)
          .then((cause: unknown) => {
            const error = new McpError(mcpConnectionClosed, `The stream of the server at ${shownUrl} ended`, {
              cause,
            });
            reject(signal.aborted ? signal.reason : error);
            end(error);
          });
      });
    },
    send(message) {
      void post(message);
    },
    negotiated(to) {
      version = to;
    },
    async close() {
      isClosed = true;
      closing.abort(new McpError(mcpConnectionClosed, "The connection was closed"));
    },
  };
}
