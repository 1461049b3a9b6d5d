/** What the HTTP echo servers share: their options, their handle, and the door every request passes. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { closeHttpServer, listenOnLoopback, sendJsonRpcError } from "../loopback-http.ts";
import type { EchoOptions } from "./echo-options.ts";
import { EchoServer } from "./echo-server.ts";
import type { JsonRpcMessage } from "./json-rpc.ts";

/** How an HTTP echo server behaves, besides what it offers. The flag of a child process is in brackets. */
export interface EchoHttpOptions extends EchoOptions {
  /** The port on 127.0.0.1 [`--port`]. @default 0 (any free one) */
  readonly port?: number;
  /** The bearer token every request must carry, else 401 [`--token`]. @default none needed */
  readonly token?: string;
  /** What the process does when the tool `crash` is called. @default every connection breaks and every session is forgotten */
  readonly crash?: (code: number) => void;
}

/** A running HTTP echo server; disposing it ends its connections, sessions and grandchildren. */
export interface EchoHttpServer extends AsyncDisposable {
  /** The endpoint: `…/mcp`, or `…/sse` of the legacy transport. */
  readonly url: string;
  readonly port: number;
  /** What it received so far, without calls; oldest first, at most 1,000. */
  readonly received: readonly JsonRpcMessage[];
  /** How many HTTP requests came in so far. */
  readonly requestCount: number;
  /** How many calls were cancelled while they waited, by a message or by a closed response. */
  readonly cancelledCount: number;
  /** How many sessions are open. */
  readonly sessionCount: number;
  /** Forget every session: their next request is answered with 404. */
  expireSessions(): void;
  /** Break every connection now, also those with a response under way. */
  dropConnections(): void;
  /** Answer the next `count` requests with `status` and nothing else. */
  refuseNext(count: number, status: number): void;
}

/** What a transport adds to the server that all transports share. */
export interface HttpEcho {
  readonly server: EchoServer;
  /** Whether `request` may pass; otherwise it is answered already. */
  admit(request: IncomingMessage, response: ServerResponse): boolean;
  /** Listen and return the handle; `path` is where clients connect. */
  open(httpServer: Server, path: string, sessions: SessionControl): Promise<EchoHttpServer>;
}

/** The sessions of a transport, as the handle needs them. */
export interface SessionControl {
  readonly size: number;
  /** Close and forget every session. */
  clear(): void;
}

export function createHttpEcho(options: EchoHttpOptions): HttpEcho {
  const children = new Set<number>();
  let requestCount = 0;
  let refusal = { count: 0, status: 503 };
  let crash: (code: number) => void = () => {};
  const host = { environment: process.env, children, crash: (code: number) => crash(code) };
  const server = new EchoServer(host, options);
  return {
    server,
    admit(request, response) {
      requestCount += 1;
      if (refusal.count > 0) {
        refusal = { ...refusal, count: refusal.count - 1 };
        response.writeHead(refusal.status).end();
        return false;
      }
      if (options.token === undefined || request.headers.authorization === `Bearer ${options.token}`)
        return true;
      response.setHeader("www-authenticate", 'Bearer realm="echo", error="invalid_token"');
      sendJsonRpcError(response, 401, -32000, "Unauthorized");
      return false;
    },
    async open(httpServer, path, sessions) {
      const port = await listenOnLoopback(httpServer, options.port ?? 0);
      const dropConnections = () => httpServer.closeAllConnections();
      crash =
        options.crash ??
        (() => {
          sessions.clear();
          dropConnections();
        });
      return {
        url: `http://127.0.0.1:${port}${path}`,
        port,
        received: server.received,
        get requestCount() {
          return requestCount;
        },
        get cancelledCount() {
          return server.cancelledCount;
        },
        get sessionCount() {
          return sessions.size;
        },
        expireSessions: () => sessions.clear(),
        dropConnections,
        refuseNext(count, status) {
          refusal = { count, status };
        },
        async [Symbol.asyncDispose]() {
          sessions.clear();
          for (const connection of [...server.connections]) connection.close();
          for (const pid of children) killQuietly(pid);
          await closeHttpServer(httpServer);
        },
      };
    },
  };
}

/** The path of a request, and its query. */
export function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", "http://127.0.0.1");
}

/** One server-sent event that carries `data`, which has no line breaks. */
export function eventOf(data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
}

/** The headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself in the meantime.
  }
}
