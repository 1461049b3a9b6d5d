/** The common parts of the HTTP echo servers: their options, their handle, and the checks of every request. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { closeHttpServer, listenOnLoopback, sendJsonRpcError } from "../loopback-http.ts";
import type { EchoOptions } from "./echo-options.ts";
import { EchoServer } from "./echo-server.ts";
import type { JsonRpcMessage } from "./json-rpc.ts";

/** Options of the transport of an HTTP echo server. The flag of a child process is in brackets. */
export interface EchoHttpOptions extends EchoOptions {
  /** The port on 127.0.0.1 [`--port`]. @default 0 (any free one) */
  readonly port?: number;
  /** The bearer token that every request must have; others get 401 [`--token`]. @default none is required */
  readonly token?: string;
  /** Called by the tool `crash`. @default breaks every connection and drops every session */
  readonly crash?: (code: number) => void;
}

/** A running HTTP echo server. Disposing it ends its connections, its sessions and the processes of its tools. */
export interface EchoHttpServer extends AsyncDisposable {
  /** The endpoint: `…/mcp`, or `…/sse` of the legacy transport. */
  readonly url: string;
  readonly port: number;
  /** The messages received so far except calls, oldest first, at most 1,000. */
  readonly received: readonly JsonRpcMessage[];
  /** HTTP requests received so far. */
  readonly requestCount: number;
  /** Calls that were cancelled in flight, by a message or a closed response. */
  readonly cancelledCount: number;
  /** Open sessions. */
  readonly sessionCount: number;
  /** Drops every session: their next request gets 404. */
  expireSessions(): void;
  /** Breaks every connection, including those with an unfinished response. */
  dropConnections(): void;
  /** Responds to the next `count` requests with `status` and nothing else. */
  refuseNext(count: number, status: number): void;
}

/** The sessions of a transport. */
export interface SessionControl {
  readonly size: number;
  /** Closes and drops every session. */
  clear(): void;
}

/** The parts of an HTTP echo server that are the same for all transports. */
export class HttpEcho {
  readonly server: EchoServer;
  readonly #options: EchoHttpOptions;
  /** Pids of the processes that tools started. */
  readonly #children = new Set<number>();
  #requestCount = 0;
  #refusal = { count: 0, status: 503 };
  #crash: (code: number) => void;

  constructor(options: EchoHttpOptions) {
    this.#options = options;
    this.#crash = options.crash ?? (() => {});
    const crash = (code: number) => this.#crash(code);
    this.server = new EchoServer({ env: process.env, children: this.#children, crash }, options);
  }

  /** Checks `request`, and responds to it if it is refused. @returns whether it is accepted */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const { token } = this.#options;
    this.#requestCount += 1;
    if (this.#refusal.count > 0) {
      this.#refusal.count -= 1;
      response.writeHead(this.#refusal.status).end();
      return false;
    }
    if (token === undefined || request.headers.authorization === `Bearer ${token}`) return true;
    response.setHeader("www-authenticate", 'Bearer realm="echo", error="invalid_token"');
    sendJsonRpcError(response, 401, -32000, "Unauthorized");
    return false;
  }

  /** Listens and returns the handle; clients connect to `path`. */
  async open(httpServer: Server, path: string, sessions: SessionControl): Promise<EchoHttpServer> {
    const { server } = this;
    const port = await listenOnLoopback(httpServer, this.#options.port ?? 0);
    const dropConnections = () => httpServer.closeAllConnections();
    if (this.#options.crash === undefined) {
      this.#crash = () => {
        sessions.clear();
        dropConnections();
      };
    }
    const requestCount = () => this.#requestCount;
    return {
      url: `http://127.0.0.1:${port}${path}`,
      port,
      received: server.received,
      get requestCount() {
        return requestCount();
      },
      get cancelledCount() {
        return server.cancelledCount;
      },
      get sessionCount() {
        return sessions.size;
      },
      expireSessions: () => sessions.clear(),
      dropConnections,
      refuseNext: (count, status) => {
        this.#refusal = { count, status };
      },
      [Symbol.asyncDispose]: async () => {
        sessions.clear();
        for (const connection of [...server.connections]) connection.close();
        for (const pid of this.#children) killQuietly(pid);
        await closeHttpServer(httpServer);
      },
    };
  }
}

/** Returns the path and the query of a request. */
export function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", "http://127.0.0.1");
}

/** Returns one server-sent event with `data`, which has no line breaks. */
export function eventOf(data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
}

/** Returns the headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}
