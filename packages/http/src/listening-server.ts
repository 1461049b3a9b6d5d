/**
 * One `node:http` server with the MCP endpoints, legacy SSE, health, metrics and
 * the JSON API. This file opens and closes it; `request-handler.ts` answers requests.
 *
 * It does not choose its address: `http-server.ts` binds it to a TCP port and
 * `control-server.ts` to a socket. Closing waits for calls in flight, ends
 * streams, and leaves no socket and no timer.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "@toolcrib/diagnostics";
import { disposeOnce } from "@toolcrib/lifecycle";
import { HttpEndpoint, type McpService, ServerMemory, SseEndpoint } from "@toolcrib/mcp";
import type { SessionStore } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { ExpiringStreams, type ExpiringStreamsDeps } from "./expiring-streams.ts";
import type { HttpLimits } from "./http-options.ts";
import { Refuser } from "./refusal.ts";
import { RequestHandler, type RequestHandlerDeps } from "./request-handler.ts";
import { RevokedTokens } from "./revoked-tokens.ts";
import type { ApiRoute } from "./route-access.ts";
import { StalledClients } from "./stalled-clients.ts";
import { StatusRoutes, type StatusRoutesDeps } from "./status-routes.ts";
import { WholeRequests } from "./whole/whole-requests.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { createServer } = process.getBuiltinModule("node:http");

/** Dependencies of a server, independent of its address. */
export interface ServerDeps extends StatusRoutesDeps {
  readonly service: McpService;
  /** Returns the ids of the tool servers, toolspecs and packages, each with an endpoint of its own. Packages come and go. */
  readonly serverIds: () => readonly string[];
  /** Returns the names of the profiles that a client may use. @default none */
  readonly profilesOf?: RequestHandlerDeps["profilesOf"];
  /** Routes in addition to the status routes, by path. @default none */
  readonly routes?: { readonly [path: string]: ApiRoute };
  /** Returns the route of a path that names a server. @default none */
  readonly serverRouteOf?: (path: string) => ApiRoute | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns when the token that gave an identity ends, in milliseconds since the epoch. @default not known: streams stay open */
  readonly tokenEndOf?: ExpiringStreamsDeps["tokenEndOf"] | undefined;
  /** Whether the token that authenticated an identity was revoked since. @default none was */
  readonly isRevoked?: ((identity: Identity) => boolean) | undefined;
  /** A new unguessable id for a session. */
  readonly newId: () => string;
  /** The sessions of clients over streamable HTTP. */
  readonly sessions: SessionStore;
}

/** The checks that depend on the address of a server. */
export type RequestChecks = Pick<
  RequestHandlerDeps,
  "authenticate" | "resource" | "isHostAllowed" | "isOriginAllowed"
>;

/** A server that closes in two steps. Disposing it drains, then closes everything; safe to repeat. */
export interface DrainableServer extends AsyncDisposable {
  /** Accepts no new requests and waits for calls in flight. @param graceMs the longest wait. @default `limits.drainGraceMs` */
  drain(graceMs?: number): Promise<void>;
}

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

/** A server that `open` binds. */
export class ListeningServer implements DrainableServer {
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #mcp: HttpEndpoint;
  readonly #sse: SseEndpoint;
  readonly #stalled: Disposable;
  readonly #revoked: RevokedTokens;
  readonly #expiring: ExpiringStreams | undefined;
  readonly #whole: WholeRequests;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, LatestExchange>();
  readonly #dispose = disposeOnce(() => this.#close());
  #isDraining = false;
  #draining: Promise<unknown> | undefined;
  #closed: Promise<void> | undefined;

  constructor(deps: ServerDeps, limits: HttpLimits, checks: RequestChecks) {
    const { logger, now } = deps;
    this.#limits = limits;
    this.#logger = logger;
    const endpointDeps = {
      now,
      newSessionId: deps.newId,
      memory: new ServerMemory({ requestsMaxBytes: Math.max(64 * 1024 ** 2, 4 * limits.bodyMaxBytes) }),
      sessions: deps.sessions,
      onUnexpected: (reason: string) => logger.debug({ reason }, "unexpected message"),
    };
    this.#mcp = new HttpEndpoint(deps.service, endpointDeps, {
      ...limits,
      sessionIdleMs: limits.sessionIdleSeconds * 1000,
    });
    this.#sse = new SseEndpoint(deps.service, endpointDeps, limits);
    const stalled = new StalledClients(
      now,
      { stalledMs: limits.stalledClientMs, intervalMs: limits.lateCheckMs },
      (socket) =>
        logger.warn({ from: socket.remoteAddress }, "client reads no answers; closing its connection"),
    );
    this.#stalled = stalled;
    this.#revoked = new RevokedTokens(
      checks.authenticate,
      { intervalMs: limits.lateCheckMs },
      (socket, client) =>
        logger.info({ client, from: socket.remoteAddress }, "token is revoked; closing a connection"),
      () =>
        deps.isRevoked && this.#mcp.endSessionsOf(deps.isRevoked, "The token of this session was revoked"),
    );
    this.#expiring = expiringStreams(deps, limits, this.#sse);
    const refuser = new Refuser(deps);
    const handler = this.#createHandler(deps, checks, refuser);
    this.#server = createServer(serverOptions(limits));
    this.#server.maxConnections = limits.maxConnections;
    // Connections reach node:http by way of the reader of whole requests.
    const [toNode] = this.#server.listeners("connection") as ((socket: Socket) => void)[];
    this.#server.removeAllListeners("connection");
    this.#whole = new WholeRequests({
      handle: (request, response) => handler.handle(request, response),
      handOver: (socket) => {
        socket.once("close", () => this.#connections.delete(socket));
        toNode?.call(this.#server, socket);
      },
      now,
      limits,
    });
    this.#server.on("connection", (socket: Socket) => {
      stalled.add(socket);
      this.#whole.add(socket);
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

  /** Binds the server. If `bind` fails, the server is closed. */
  async open<Address>(bind: (server: Server) => Promise<Address>): Promise<Address> {
    let address: Address;
    try {
      address = await bind(this.#server);
    } catch (error) {
      await this.#closeParts();
      throw error;
    }
    // Accepting a connection can fail (too many open files); the next one can succeed.
    this.#server.on("error", (error) =>
      this.#logger.error({ err: error }, "connection could not be accepted"),
    );
    return address;
  }

  async drain(graceMs: number = this.#limits.drainGraceMs): Promise<void> {
    this.#draining ??= this.#startDraining(graceMs);
    await this.#draining;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #createHandler(deps: ServerDeps, checks: RequestChecks, refuser: Refuser): RequestHandler {
    const { serverIds, routes = {}, serverRouteOf, logger } = deps;
    const statusRoutes = new StatusRoutes(deps, serverIds, () => this.#isDraining);
    return new RequestHandler({
      ...checks,
      onAccepted: (request, response, identity) => {
        this.#revoked.add(request.socket, request.headers.authorization, identity);
        this.#expiring?.add(request, response, identity);
      },
      mcp: this.#mcp,
      sse: this.#sse,
      routeOf: (path) =>
        statusRoutes.routeOf(path) ?? (Object.hasOwn(routes, path) ? routes[path] : serverRouteOf?.(path)),
      serverIds,
      isVisible: deps.isVisible,
      profilesOf: deps.profilesOf ?? (() => []),
      refuser,
      logger,
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
    this.#whole.drain();
    this.#closed = new Promise((resolve) => this.#server.close(() => resolve()));
    return Promise.all([this.#mcp.drain(graceMs), this.#sse.drain(graceMs)]);
  }

  async #close(): Promise<void> {
    await this.drain();
    await this.#closeParts();
    const closeIdle = () => {
      this.#server.closeIdleConnections();
      this.#whole.closeIdle();
    };
    const idle = setInterval(closeIdle, 10);
    const rest = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#whole.closeAll();
    }, this.#limits.flushGraceMs);
    closeIdle();
    await this.#closed;
    clearInterval(idle);
    clearTimeout(rest);
  }

  async #closeParts(): Promise<void> {
    await this.#mcp[Symbol.asyncDispose]();
    await this.#sse[Symbol.asyncDispose]();
    this.#stalled[Symbol.dispose]();
    this.#revoked[Symbol.dispose]();
    this.#expiring?.[Symbol.dispose]();
  }
}

/** Watches the streams of clients whose tokens end; undefined where the ends of tokens are not known. */
function expiringStreams(
  { now, logger, tokenEndOf }: ServerDeps,
  { lateCheckMs }: HttpLimits,
  sse: SseEndpoint,
): ExpiringStreams | undefined {
  if (tokenEndOf === undefined) return undefined;
  const onExpired: ExpiringStreamsDeps["onExpired"] = ({ socket }, client) =>
    logger.info({ client, from: socket.remoteAddress }, "access token has ended; closing a stream");
  const endWhenAnswered: ExpiringStreamsDeps["endWhenAnswered"] = (response) => sse.endWhenAnswered(response);
  return new ExpiringStreams({ now, tokenEndOf, endWhenAnswered, onExpired }, { intervalMs: lateCheckMs });
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
