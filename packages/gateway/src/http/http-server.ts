/**
 * The HTTP server: one `node:http` server with the MCP endpoints, legacy SSE,
 * health, metrics and the status API. This file opens and closes it;
 * `request-handler.ts` answers requests.
 *
 * It refuses to accept other machines without tokens. Closing waits for calls
 * in flight, ends streams, and leaves no socket and no timer.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isLoopbackHost } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { disposeOnce } from "@toolcrib/lifecycle";
import { HttpEndpoint, type McpService, SseEndpoint } from "@toolcrib/mcp";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { bracketed, createHostCheck, createOriginCheck } from "./host-check.ts";
import { type HttpLimits, type HttpServerOptions, resolveHttpLimits } from "./http-options.ts";
import { createRefuser, type Refuser } from "./refusal.ts";
import { type Authenticate, RequestHandler } from "./request-handler.ts";
import { watchStalledClients } from "./stalled-clients.ts";
import { createStatusRoutes, type StatusRoutesDeps } from "./status-routes.ts";

/** Dependencies of the HTTP server. */
export interface HttpServerDeps extends StatusRoutesDeps {
  readonly service: McpService;
  /** Ids of the tool servers, each with an endpoint of its own. Read once. */
  readonly serverIds: () => readonly string[];
  /** Authenticates an `Authorization` header. Required if `auth` is `token`. */
  readonly authenticate: Authenticate | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new unguessable id for a session. */
  readonly newId: () => string;
}

/** A listening HTTP server. Disposing it drains, then closes everything; safe to repeat. */
export interface HttpServer extends AsyncDisposable {
  /** Base URL for programs on this machine, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Accepts no new requests and waits for calls in flight. @param graceMs the longest wait. @default `limits.drainGraceMs` */
  drain(graceMs?: number): Promise<void>;
}

const anonymous: Identity = localIdentity("anonymous", "anonymous");

/** The newest request of a connection. */
interface LatestExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether a request arrived before the previous answer was complete. */
  readonly isPipelined: boolean;
}

/** Whether invalid HTTP can be answered without the answer being mistaken for that to an earlier request. */
function canAnswerBroken(latest: LatestExchange | undefined): boolean {
  if (latest === undefined || latest.response.writableFinished) return true;
  return !latest.isPipelined && !latest.request.complete && !latest.response.headersSent;
}

/**
 * Starts the HTTP server.
 *
 * @throws {GatewayError} `HTTP_AUTH_REQUIRED`, `HTTP_ADDRESS_IN_USE`, `HTTP_LISTEN_FAILED`.
 */
export async function startHttpServer(deps: HttpServerDeps, options: HttpServerOptions): Promise<HttpServer> {
  const { host } = options.listen;
  if (options.auth === "none" && !isLoopbackHost(host)) throw authRequired(host);
  const server = new ListeningServer(deps, options);
  await server.listen();
  return server;
}

class ListeningServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #mcp: HttpEndpoint;
  readonly #sse: SseEndpoint;
  readonly #stalled: Disposable;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, LatestExchange>();
  readonly #dispose = disposeOnce(() => this.#close());
  #isDraining = false;
  #port = 0;
  #draining: Promise<unknown> | undefined;
  #closed: Promise<void> | undefined;

  constructor(deps: HttpServerDeps, options: HttpServerOptions) {
    const { logger, now } = deps;
    const limits = resolveHttpLimits(options.limits);
    this.#options = options;
    this.#limits = limits;
    this.#logger = logger;
    const endpointDeps = {
      now,
      newSessionId: deps.newId,
      onUnexpected: (reason: string) => logger.debug({ reason }, "unexpected message"),
    };
    this.#mcp = new HttpEndpoint(deps.service, endpointDeps, {
      ...limits,
      sessionIdleMs: limits.sessionIdleSeconds * 1000,
    });
    this.#sse = new SseEndpoint(deps.service, endpointDeps, limits);
    const stalled = watchStalledClients(
      now,
      { stalledMs: limits.stalledClientMs, intervalMs: limits.lateCheckMs },
      (socket) =>
        logger.warn({ from: socket.remoteAddress }, "client reads no answers; closing its connection"),
    );
    this.#stalled = stalled;
    const refuser = createRefuser(deps);
    const handler = this.#createHandler(deps, refuser);
    this.#server = createServer(serverOptions(limits));
    this.#server.maxConnections = limits.maxConnections;
    this.#server.on("connection", (socket: Socket) => {
      stalled.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
    this.#server.on("request", (request, response) => {
      this.#noteExchange(request, response);
      handler.handle(request, response);
    });
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      refuser.refuseBroken(socket as Socket, error, canAnswerBroken(this.#connections.get(socket)));
    });
    this.#server.on("drop", () =>
      logger.warn({ limit: limits.maxConnections }, "too many connections; one was refused"),
    );
  }

  get url(): string {
    return `http://${urlHost(this.#options.listen.host)}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options.listen;
    try {
      const { address, port: actualPort } = await listen(this.#server, host, port);
      // A name that looks like this machine can resolve to an address that other machines reach.
      if (this.#options.auth === "none" && !isLoopbackHost(address)) {
        this.#server.close();
        throw authRequired(host);
      }
      this.#port = actualPort;
    } catch (error) {
      await this.#closeParts();
      throw error;
    }
    // Accepting a connection can fail (too many open files); the next one can succeed.
    this.#server.on("error", (error) =>
      this.#logger.error({ err: error }, "connection could not be accepted"),
    );
  }

  async drain(graceMs: number = this.#limits.drainGraceMs): Promise<void> {
    this.#draining ??= this.#startDraining(graceMs);
    await this.#draining;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #createHandler(deps: HttpServerDeps, refuser: Refuser): RequestHandler {
    const { host } = this.#options.listen;
    const { allowedHosts = [], allowedOrigins = [], auth } = this.#options;
    const authenticate = auth === "none" ? () => anonymous : deps.authenticate;
    assert(authenticate !== undefined, "auth is token, and there is nothing to check tokens with");
    const serverIds = new Set(deps.serverIds());
    return new RequestHandler({
      mcp: this.#mcp,
      sse: this.#sse,
      authenticate,
      isHostAllowed: createHostCheck(host, allowedHosts),
      isOriginAllowed: createOriginCheck(allowedOrigins),
      statusRoute: createStatusRoutes(deps, serverIds, () => this.#isDraining),
      serverIds,
      refuser,
      logger: deps.logger,
    });
  }

  #noteExchange(request: IncomingMessage, response: ServerResponse): void {
    const before = this.#connections.get(request.socket);
    const isPipelined = before !== undefined && (before.isPipelined || !before.response.writableFinished);
    this.#connections.set(request.socket, { request, response, isPipelined });
    if (this.#isDraining) response.shouldKeepAlive = false;
  }

  #startDraining(graceMs: number): Promise<unknown> {
    this.#isDraining = true;
    // No connection stays open for another request after its answer.
    for (const { response } of this.#connections.values()) response.shouldKeepAlive = false;
    this.#closed = new Promise((resolve) => this.#server.close(() => resolve()));
    return Promise.all([this.#mcp.drain(graceMs), this.#sse.drain(graceMs)]);
  }

  async #close(): Promise<void> {
    await this.drain();
    await this.#closeParts();
    const idle = setInterval(() => this.#server.closeIdleConnections(), 10);
    const rest = setTimeout(() => this.#server.closeAllConnections(), this.#limits.flushGraceMs);
    this.#server.closeIdleConnections();
    await this.#closed;
    clearInterval(idle);
    clearTimeout(rest);
  }

  async #closeParts(): Promise<void> {
    await this.#mcp[Symbol.asyncDispose]();
    await this.#sse[Symbol.asyncDispose]();
    this.#stalled[Symbol.dispose]();
  }
}

function serverOptions(limits: HttpLimits): Parameters<typeof createServer>[0] {
  return {
    maxHeaderSize: limits.headersMaxBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.lateCheckMs,
    keepAliveTimeout: limits.idleConnectionMs,
    // A request without Host gets the same answer as one with a wrong Host.
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => reject(toListenError(cause, host, port));
    server.once("error", failed);
    server.listen({ host: host.replace(/^\[(.*)\]$/, "$1"), port }, () => {
      server.off("error", failed);
      resolve(server.address() as AddressInfo);
    });
  });
}

function toListenError(cause: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const place = `${bracketed(host)}:${port}`;
  if (cause.code === "EADDRINUSE") {
    return new GatewayError("HTTP_ADDRESS_IN_USE", `Cannot listen on ${place}: another program does`, {
      hint: "stop the other program, or choose another port with --listen 127.0.0.1:PORT (0 takes a free one)",
      cause,
    });
  }
  const message = `Cannot listen on ${place}: ${cause.code ?? cause.message}`;
  return new GatewayError("HTTP_LISTEN_FAILED", message, { cause });
}

function authRequired(host: string): GatewayError {
  return new GatewayError(
    "HTTP_AUTH_REQUIRED",
    `Cannot listen on "${host}" without tokens: other machines can reach it`,
    {
      hint: "write serve.auth: token, or listen on 127.0.0.1",
    },
  );
}

/** The host in the URL for programs on this machine. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "[::1]" : bracketed(host);
}
