/**
 * HTTP/1.1 with a client, by the server of `node:http`: its parser decides what
 * a request is, in its strict mode, so that what is ambiguous (length and
 * chunks at once, folded lines, bare line feeds) never gets here.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { EgressError } from "../egress-error.ts";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toPairs } from "./raw-headers.ts";
import { toRefusalBytes } from "./refusal.ts";

/** Told of each request on a connection that was handed over. */
export type OnRequest = (exchange: ClientExchange) => void;

/** Serves connections on which TLS was ended already. */
export interface Http1Side extends Disposable {
  /** Serve `connection`; its requests go to `onRequest`. */
  serve(connection: Duplex, onRequest: OnRequest): void;
}

/** Create the HTTP/1.1 side of a proxy. It listens on nothing itself. */
export function createHttp1Side(limits: ProxyLimits): Http1Side {
  const listeners = new WeakMap<Duplex, OnRequest>();
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: limits.headersMaxBytes,
    headersTimeout: limits.requestHeadTimeoutMs,
    // A body may take as long as it moves: what does not move is ended by the idle time.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    noDelay: true,
    highWaterMark: limits.highWaterBytes,
  });
  server.timeout = limits.idleTimeoutMs;
  const take = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) =>
    listeners.get(request.socket)?.(toExchange(request, response, awaitsContinue));
  server.on("request", (request, response) => take(request, response, false));
  server.on("checkContinue", (request, response) => take(request, response, true));
  server.on("connect", (_request, socket) => {
    const error = new EgressError("EGRESS_UPGRADE_REFUSED", "Cannot open a tunnel within a tunnel");
    socket.on("error", () => socket.destroy());
    socket.end(toRefusalBytes(error), () => socket.destroy());
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    const state = error.code === "HPE_HEADER_OVERFLOW" ? "its head is too large" : "it is not HTTP/1.1";
    const refusal = new EgressError("EGRESS_REQUEST_INVALID", `Cannot read the request: ${state}`);
    socket.end(toRefusalBytes(refusal), () => socket.destroy());
  });
  return {
    serve(connection, onRequest) {
      listeners.set(connection, onRequest);
      server.emit("connection", connection);
    },
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function toExchange(
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
): ClientExchange {
  const { authorities, headers } = withoutHost(request.rawHeaders);
  let wasTold = !awaitsContinue;
  // What the origin said is passed on: its Date, or none.
  response.sendDate = false;
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    scheme: undefined,
    authorities,
    headers,
    hasBody: request.headers["transfer-encoding"] !== undefined || hasLength(request),
    body: request,
    trailers: () => request.rawTrailers,
    wasCut: () => !request.complete,
    onGone(listener) {
      response.once("close", () => {
        if (!response.writableFinished) listener();
      });
      request.once("error", listener);
    },
    inform(status, interim) {
      if (status === 100) {
        wasTold = true;
        response.writeContinue();
      } else if (status === 102) response.writeProcessing();
      else if (status === 103) writeEarlyHints(response, interim);
    },
    respond({ status, statusText, headers: sent, isEnd }) {
      // A client that was not told to go on may send its body or not: the next request cannot be found then.
      const all = wasTold ? sent : [...sent, "Connection", "close"];
      response.writeHead(status, statusText, all as string[]);
      // With the first piece of the body, if that comes in this turn.
      if (!isEnd) setImmediate(() => flush(response));
      return response;
    },
    end(trailers) {
      if (trailers.length > 0) response.addTrailers(toPairs(trailers));
      response.end();
    },
    reset() {
      request.socket.destroy();
    },
  };
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
  // Node lets through what is a link and nothing else; a hint that is none is no loss.
  try {
    if (links.length > 0) response.writeEarlyHints({ link: links.map(([, value]) => value) });
  } catch {
    return;
  }
}
