/**
 * The HTTP front door: one `node:http` server with the MCP endpoints, legacy
 * SSE, health, metrics and the small status API. This file opens and closes it;
 * `front-door.ts` says what happens to a request.
 *
 * Refuses to be open to other machines without tokens. Closing waits for calls
 * in flight, ends streams, and leaves no socket and no timer.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isLoopbackHost } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { HttpEndpoint, type McpService, SseEndpoint } from "@toolcrib/mcp";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { type Authenticate, createFrontDoor } from "./front-door.ts";
import { bracketed, createHostCheck, createOriginCheck } from "./host-check.ts";
import { type HttpLimits, type HttpServerOptions, resolveHttpLimits } from "./http-options.ts";
import { createRefuser } from "./refusal.ts";
import { watchStalledClients } from "./stalled-clients.ts";
import { createStatusRoutes, type StatusRoutesDeps } from "./status-routes.ts";

/** What the front door needs from outside. */
export interface HttpServerDeps extends StatusRoutesDeps {
  readonly service: McpService;
  /** Ids of the tool servers, each with an endpoint of its own. Read once. */
  readonly serverIds: () => readonly string[];
  /** Who an `Authorization` header stands for. Needed when `auth` is `token`. */
  readonly authenticate: Authenticate | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new unguessable id for a session. */
  readonly newId: () => string;
}

/** An open front door. Disposing it drains, then closes everything; safe to repeat. */
export interface HttpServer extends AsyncDisposable {
  /** Base URL for programs on this machine, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Accept nothing new and wait for calls in flight. @param graceMs at most so long. @default `limits.drainGraceMs` */
  drain(graceMs?: number): Promise<void>;
}

const anonymous: Identity = localIdentity("anonymous", "anonymous");

/** The newest request of a connection. */
interface LatestExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether a request ever came before the answer to the one before it was out. */
  readonly isPipelined: boolean;
}

/** Whether what is not HTTP can be answered, and the answer not be taken for that to an earlier request. */
function canAnswerBroken(latest: LatestExchange | undefined): boolean {
  if (latest === undefined || latest.response.writableFinished) return true;
  return !latest.isPipelined && !latest.request.complete && !latest.response.headersSent;
}

/**
 * Open the front door.
 *
 * @throws {GatewayError} `HTTP_AUTH_REQUIRED`, `HTTP_ADDRESS_IN_USE`, `HTTP_LISTEN_FAILED`.
 */
export async function startHttpServer(deps: HttpServerDeps, options: HttpServerOptions): Promise<HttpServer> {
  const { logger, now } = deps;
  const { host, port } = options.listen;
  const limits = resolveHttpLimits(options.limits);
  if (options.auth === "none" && !isLoopbackHost(host)) throw authRequired(host);

  const authenticate = options.auth === "none" ? () => anonymous : deps.authenticate;
  assert(authenticate !== undefined, "auth is token, and there is nothing to check tokens with");
  const serverIds = new Set(deps.serverIds());
  const endpointDeps = {
    now,
    newSessionId: deps.newId,
    onUnexpected: (reason: string) => logger.debug({ reason }, "message fits nowhere"),
  };
  const mcp = new HttpEndpoint(deps.service, endpointDeps, {
    ...limits,
    sessionIdleMs: limits.sessionIdleSeconds * 1000,
  });
  const sse = new SseEndpoint(deps.service, endpointDeps, limits);
  const refuser = createRefuser(deps);
  let isDraining = false;
  const answer = createFrontDoor({
    mcp,
    sse,
    authenticate,
    isHostAllowed: createHostCheck(host, options.allowedHosts ?? []),
    isOriginAllowed: createOriginCheck(options.allowedOrigins ?? []),
    statusRoute: createStatusRoutes(deps, serverIds, () => isDraining),
    serverIds,
    refuser,
    logger,
  });

  const server = createServer(serverOptions(limits));
  server.maxConnections = limits.maxConnections;
  const stalled = watchStalledClients(
    now,
    { stalledMs: limits.stalledClientMs, intervalMs: limits.lateCheckMs },
    (socket) =>
      logger.warn({ from: socket.remoteAddress }, "client takes no answers; closing its connection"),
  );
  const connections = new Map<Duplex, LatestExchange>();
  server.on("connection", (socket: Socket) => {
    stalled.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    const before = connections.get(request.socket);
    const isPipelined = before !== undefined && (before.isPipelined || !before.response.writableFinished);
    connections.set(request.socket, { request, response, isPipelined });
    if (isDraining) response.shouldKeepAlive = false;
    answer(request, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuser.refuseBroken(socket as Socket, error, canAnswerBroken(connections.get(socket)));
  });
  server.on("drop", () =>
    logger.warn({ limit: limits.maxConnections }, "too many connections; one was refused"),
  );

  async function closeParts(): Promise<void> {
    await mcp[Symbol.asyncDispose]();
    await sse[Symbol.asyncDispose]();
    stalled[Symbol.dispose]();
  }

  let address: AddressInfo;
  try {
    address = await listen(server, host, port);
    // A name that only looks like this machine must not open the door to others.
    if (options.auth === "none" && !isLoopbackHost(address.address)) {
      server.close();
      throw authRequired(host);
    }
  } catch (error) {
    await closeParts();
    throw error;
  }

  // Accepting a connection can fail (too many open files); the next one may succeed.
  server.on("error", (error) => logger.error({ err: error }, "connection could not be accepted"));

  let draining: Promise<unknown> | undefined;
  let closed: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function drain(graceMs: number = limits.drainGraceMs): Promise<void> {
    if (draining === undefined) {
      isDraining = true;
      // No connection is kept for another request once its answer is out.
      for (const { response } of connections.values()) response.shouldKeepAlive = false;
      closed = new Promise((resolve) => server.close(() => resolve()));
      draining = Promise.all([mcp.drain(graceMs), sse.drain(graceMs)]);
    }
    await draining;
  }

  async function close(): Promise<void> {
    await drain();
    await closeParts();
    const idle = setInterval(() => server.closeIdleConnections(), 10);
    const rest = setTimeout(() => server.closeAllConnections(), limits.flushGraceMs);
    server.closeIdleConnections();
    await closed;
    clearInterval(idle);
    clearTimeout(rest);
  }

  return {
    url: `http://${urlHost(host)}:${address.port}`,
    port: address.port,
    drain,
    [Symbol.asyncDispose]() {
      closing ??= close();
      return closing;
    },
  };
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

/** The host of the URL that programs on this machine use. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "[::1]" : bracketed(host);
}
