/**
 * HTTP/1.1 with a client, through the server of `node:http`. Its parser runs in
 * strict mode and rejects ambiguous requests: length and chunks at the same
 * time, folded lines, bare line feeds.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { EgressError } from "../egress-error.ts";
import type { ClientExchange, RawHeaders, ResponseHead } from "./client-exchange.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toPairs } from "./raw-headers.ts";
import { toRefusalBytes } from "./refusal.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { createServer } = process.getBuiltinModule("node:http");

/** Handles the requests of a connection. */
export type OnRequest = (exchange: ClientExchange) => void;

/** Serves connections whose TLS is terminated. Does not listen itself. Disposing closes them. */
export class ClientHttp1Server implements Disposable {
  readonly #handlers = new WeakMap<Duplex, OnRequest>();
  readonly #server: Server;

  constructor(limits: ProxyLimits) {
    const server = createServer({
      insecureHTTPParser: false,
      requireHostHeader: true,
      maxHeaderSize: limits.headersMaxBytes,
      headersTimeout: limits.requestHeadTimeoutMs,
      // A body has no time limit while it makes progress; the idle timeout ends one that stalls.
      requestTimeout: 0,
      keepAliveTimeout: limits.idleTimeoutMs,
      noDelay: true,
      highWaterMark: limits.highWaterBytes,
    });
    server.timeout = limits.idleTimeoutMs;
    const handle = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) =>
      this.#handlers.get(request.socket)?.(new Http1Exchange(request, response, awaitsContinue));
    server.on("request", (request, response) => handle(request, response, false));
    server.on("checkContinue", (request, response) => handle(request, response, true));
    server.on("connect", (_request, socket) => refuseConnect(socket));
    server.on("clientError", refuseInvalid);
    this.#server = server;
  }

  /** Serves `connection` and passes its requests to `onRequest`. */
  serve(connection: Duplex, onRequest: OnRequest): void {
    this.#handlers.set(connection, onRequest);
    this.#server.emit("connection", connection);
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function refuseConnect(socket: Duplex): void {
  const error = new EgressError("EGRESS_UPGRADE_REFUSED", "Cannot open a tunnel within a tunnel");
  socket.on("error", () => socket.destroy());
  socket.end(toRefusalBytes(error), () => socket.destroy());
}

function refuseInvalid(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const state = error.code === "HPE_HEADER_OVERFLOW" ? "its head is too large" : "it is not HTTP/1.1";
  const refusal = new EgressError("EGRESS_REQUEST_INVALID", `Cannot read the request: ${state}`);
  socket.end(toRefusalBytes(refusal), () => socket.destroy());
}

/** One request and its response. */
class Http1Exchange implements ClientExchange {
  readonly method: string;
  readonly target: string;
  readonly scheme = undefined;
  readonly authorities: readonly string[];
  readonly headers: RawHeaders;
  readonly hasBody: boolean;
  readonly body: IncomingMessage;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** Whether the client sends its body: it did not ask, or was answered. */
  #mayContinue: boolean;

  constructor(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) {
    const { authorities, headers } = withoutHost(request.rawHeaders);
    this.method = request.method ?? "";
    this.target = request.url ?? "";
    this.authorities = authorities;
    this.headers = headers;
    this.hasBody = request.headers["transfer-encoding"] !== undefined || hasLength(request);
    this.body = request;
    this.#request = request;
    this.#response = response;
    this.#mayContinue = !awaitsContinue;
    // The client gets the Date of the origin, or none.
    response.sendDate = false;
  }

  trailers(): RawHeaders {
    return this.#request.rawTrailers;
  }

  wasCut(): boolean {
    return !this.#request.complete;
  }

  onGone(listener: () => void): void {
    this.#response.once("close", () => {
      if (!this.#response.writableFinished) listener();
    });
    this.#request.once("error", listener);
  }

  inform(status: number, headers: RawHeaders): void {
    if (status === 100) {
      this.#mayContinue = true;
      this.#response.writeContinue();
    } else if (status === 102) this.#response.writeProcessing();
    else if (status === 103) writeEarlyHints(this.#response, headers);
  }

  respond({ status, statusText, headers, isEnd }: ResponseHead): ServerResponse {
    // A client without "100 Continue" may or may not send its body, so the start of its next request is unknown.
    const all = this.#mayContinue ? headers : [...headers, "Connection", "close"];
    this.#response.writeHead(status, statusText, all as string[]);
    // Sends the head with the first piece of the body, if that is written in this turn.
    if (!isEnd) setImmediate(() => flush(this.#response));
    return this.#response;
  }

  end(trailers: RawHeaders): void {
    if (trailers.length > 0) this.#response.addTrailers(toPairs(trailers));
    this.#response.end();
  }

  reset(): void {
    this.#request.socket.destroy();
  }
}

function flush(response: ServerResponse): void {
  if (!response.destroyed && !response.writableEnded) response.flushHeaders();
}

function hasLength(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) > 0;
}

function withoutHost(raw: RawHeaders): { readonly authorities: string[]; readonly headers: string[] } {
  const authorities: string[] = [];
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    if (name.length === 4 && name.toLowerCase() === "host") authorities.push(value);
    else headers.push(name, value);
  }
  return { authorities, headers };
}

function writeEarlyHints(response: ServerResponse, raw: RawHeaders): void {
  const links = toPairs(raw).filter(([name]) => name.toLowerCase() === "link");
  // Node accepts valid links only; an invalid hint can be dropped.
  try {
    if (links.length > 0) response.writeEarlyHints({ link: links.map(([, value]) => value) });
  } catch {
    return;
  }
}
