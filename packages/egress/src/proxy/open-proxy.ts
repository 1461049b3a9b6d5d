/**
 * An HTTP proxy for other processes, on a port of 127.0.0.1, one for each
 * source: the port identifies the source. It accepts CONNECT only. It
 * normalizes the authority of CONNECT and checks it against the policy of the
 * source before it answers 200; the tunnel then leads to that authority and to
 * no other.
 *
 * It answers 403 with JSON for requests that are not allowed, and never asks
 * for credentials (407): a process that can reach the port gains access to the
 * hosts of the source only, and to no secret without its placeholder.
 */

import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@toolcrib/diagnostics";
import { disposeOnce, type StartTimer } from "@toolcrib/lifecycle";
import { type Authority, authorize, isPassedThrough, parseAuthority } from "../authority.ts";
import { openNamedTunnel } from "../dial-named.ts";
import { EgressError } from "../egress-error.ts";
import type { EgressProxy, EgressSource, HandedProxy } from "../egress-types.ts";
import { ScopedListeners, scopedPlaces } from "../names/scoped-listeners.ts";
import { findOrigin, originTextOf } from "../passthrough/named-origins.ts";
import { passPlain } from "../passthrough/pass-plain.ts";
import { relayBytes, relayTls } from "../passthrough/relay-tls.ts";
import type { Pipeline, Requester } from "../pipeline.ts";
import type { ClientExchange } from "./client-exchange.ts";
import { passExchange } from "./exchange.ts";
import type { LeafCache } from "./host-cache.ts";
import type { OpenAuthority } from "./open-local-authority.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { toPairs, valuesOf } from "./raw-headers.ts";
import { framingError } from "./read-request.ts";
import { toRefusal, toRefusalBytes } from "./refusal.ts";
import { TunnelServer } from "./tunnel-server.ts";
import { Upstream } from "./upstream.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { createServer } = process.getBuiltinModule("node:http");

/** The inputs that all proxies of an egress share. */
export interface ProxyDeps {
  readonly pipeline: Pipeline;
  readonly files: Pick<OpenAuthority, "caFile" | "caBundleFile">;
  readonly leaves: LeafCache;
  readonly limits: ProxyLimits;
  readonly now: () => number;
  readonly startTimer: StartTimer;
}

/** CONNECT needs a port. */
const connectPattern = /:[0-9]+$/;

/**
 * Opens a proxy for the processes of `source`.
 *
 * @throws {EgressError} `EGRESS_LISTEN_FAILED`
 */
export async function openProxy(source: EgressSource, deps: ProxyDeps): Promise<EgressProxy> {
  deps.pipeline.learn(source);
  const proxy = new ProxyServer(source, deps);
  const port = await proxy.listen();
  return {
    url: `http://127.0.0.1:${port}`,
    caFile: deps.files.caFile,
    caBundleFile: deps.files.caBundleFile,
    [Symbol.asyncDispose]: disposeOnce(() => proxy[Symbol.asyncDispose]()),
  };
}

/** Opens a proxy for the processes of `source`, which reach it at `port` of a network namespace of their own. */
export function openHandedProxy(source: EgressSource, port: number, deps: ProxyDeps): HandedProxy {
  deps.pipeline.learn(source);
  const proxy = new ProxyServer(source, deps);
  const listeners = new ScopedListeners({
    allow: source.allow,
    now: deps.now,
    onConnection: (connection, authority) => proxy.serveDirect(connection, authority),
    onRefused: (host, error) => deps.pipeline.reportRefused({ source }, host, error, []),
  });
  return {
    url: `http://127.0.0.1:${port}`,
    caFile: deps.files.caFile,
    caBundleFile: deps.files.caBundleFile,
    places: scopedPlaces(source.allow, port),
    takeListener(listener, place) {
      if (!("send" in listener) && place.protocol === "tcp" && place.port === port)
        proxy.takeListener(listener);
      else listeners.take(listener, place);
    },
    receivedBytes: () => proxy.receivedBytes,
    [Symbol.asyncDispose]: disposeOnce(async () => {
      // The listeners are closed when the proxy has closed their connections.
      await Promise.all([listeners[Symbol.asyncDispose](), proxy[Symbol.asyncDispose]()]);
    }),
  };
}

/** The HTTP server of one proxy, with its tunnels. */
class ProxyServer implements AsyncDisposable {
  readonly #requester: Requester;
  readonly #deps: ProxyDeps;
  readonly #server: Server;
  readonly #tunnels: TunnelServer;
  readonly #connections = new Set<Duplex>();
  /** Bytes that connections got which have ended. */
  #endedBytes = 0;
  #isDisposed = false;

  constructor(source: EgressSource, deps: ProxyDeps) {
    this.#requester = { source };
    this.#deps = deps;
    const { leaves, limits, now } = deps;
    this.#tunnels = new TunnelServer({
      leaves,
      limits,
      now,
      onConnection: (authority, connection) => this.#onConnection(authority, connection),
    });
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: limits.connectHeadMaxBytes,
      headersTimeout: limits.requestHeadTimeoutMs,
      requestTimeout: limits.requestHeadTimeoutMs,
      keepAliveTimeout: limits.requestHeadTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, limits.requestHeadTimeoutMs),
      noDelay: true,
    });
    this.#server.maxConnections = limits.connectionsMaxCount;
    this.#server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      socket.once("close", () => {
        this.#connections.delete(socket);
        this.#endedBytes += socket.bytesWritten;
      });
    });
    this.#server.on("connect", (request: IncomingMessage, socket: Duplex, ahead: Buffer) =>
      this.#onConnect(request, socket, ahead),
    );
    this.#server.on("request", (request, response) => this.#onRequest(request, response));
    this.#server.on("clientError", (_error, socket) => {
      if (!socket.writable) return void socket.destroy();
      const error = new EgressError("EGRESS_REQUEST_INVALID", "Cannot read the request: it is not HTTP/1.1");
      endWith(socket, toRefusalBytes(error), limits);
    });
  }

  /**
   * Listens on a free port, and returns it.
   *
   * @throws {EgressError} `EGRESS_LISTEN_FAILED`
   */
  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    try {
      await once(this.#server, "listening");
    } catch (cause) {
      const message = `Cannot listen on 127.0.0.1: ${messageOf(cause)}`;
      throw new EgressError("EGRESS_LISTEN_FAILED", message, { cause });
    }
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that its clients got. */
  get receivedBytes(): number {
    const open = [...this.#connections].map((one) => ("bytesWritten" in one ? Number(one.bytesWritten) : 0));
    return open.reduce((sum, bytes) => sum + bytes, this.#endedBytes);
  }

  /** Serves a listener of another process. After the end of the proxy it closes it. */
  takeListener(listener: NetServer): void {
    if (this.#isDisposed) listener.close();
    else this.#server.listen(listener);
  }

  /**
   * Serves a connection without CONNECT, whose address stands for its destination.
   *
   * @throws {EgressError} `EGRESS_HOST_DENIED`, `EGRESS_PORT_DENIED`, `EGRESS_CLOSED`
   */
  serveDirect(connection: Socket, authority: Authority): void {
    if (this.#isDisposed || this.#connections.size >= this.#deps.limits.connectionsMaxCount) {
      throw new EgressError("EGRESS_CLOSED", "Cannot serve the connection: there are too many");
    }
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    authorize(this.#requester.source, authority);
    connection.setNoDelay(true);
    this.#serve(connection, authority);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#tunnels[Symbol.dispose]();
    await Promise.all([
      closed,
      ...[...this.#connections].map(async (connection) => {
        const gone = connection.closed ? undefined : once(connection, "close");
        connection.destroy();
        await gone;
      }),
    ]);
  }

  #onConnect(request: IncomingMessage, socket: Duplex, ahead: Buffer): void {
    socket.on("error", () => socket.destroy());
    const { source } = this.#requester;
    let host = request.url ?? "";
    const accept = (): void => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (ahead.length > 0) socket.unshift(ahead);
    };
    try {
      const origin = findOrigin(source, "https", host) ?? findOrigin(source, "http", host);
      if (origin !== undefined) {
        accept();
        this.#relay(
          socket,
          origin.host,
          (signal) => openNamedTunnel(this.#deps.pipeline, source, origin, signal),
          origin.scheme === "https" ? relayTls : relayBytes,
        );
        return;
      }
      const authority = readConnect(request);
      host = authority.host;
      authorize(source, authority);
      accept();
      this.#serve(socket, authority);
    } catch (error) {
      this.#deps.pipeline.reportRefused(this.#requester, host, error, toPairs(request.rawHeaders));
      endWith(socket, toRefusalBytes(error), this.#deps.limits);
    }
  }

  /** Serves a connection whose destination was authorized. */
  #serve(connection: Duplex, authority: Authority): void {
    const { pipeline } = this.#deps;
    if (isPassedThrough(this.#requester.source, authority)) {
      this.#relay(connection, authority.host, (signal) => pipeline.connectUnread(authority, signal));
    } else {
      this.#tunnels.serve(connection, authority);
    }
  }

  #relay(
    connection: Duplex,
    host: string,
    connect: (signal: AbortSignal) => Promise<Socket>,
    relay = relayTls,
  ): void {
    const { pipeline, limits } = this.#deps;
    const onRefused = (error: unknown): void => pipeline.reportRelayRefused(this.#requester, host, error);
    void relay(connection, { host, limits, connect, onRefused });
  }

  /** Refuses a request that is not CONNECT, unless an operator's setting names its origin. */
  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { source } = this.#requester;
    const { url = "", rawHeaders } = request;
    const origin = findOrigin(source, "http", originTextOf(url));
    const framing = framingError(rawHeaders);
    if (origin !== undefined && framing === undefined) {
      void passPlain({ request, response, source, origin, ...this.#deps });
      return;
    }
    const error = origin === undefined || framing === undefined ? plainRefusal(url) : framing;
    this.#deps.pipeline.reportRefused(this.#requester, url, error, toPairs(rawHeaders));
    const { status, statusText, contentType, body } = toRefusal(error);
    const headers = { "content-type": contentType, "content-length": body.length, connection: "close" };
    response.writeHead(status, statusText, headers).end(body);
  }

  /** Returns the handler of the requests on `connection`, a tunnel to `authority`. */
  #onConnection(authority: Authority, connection: Duplex): (exchange: ClientExchange) => void {
    const { pipeline, limits, startTimer } = this.#deps;
    const requester = this.#requester;
    const isHttp2 = "alpnProtocol" in connection && connection.alpnProtocol === "h2";
    const controller = new AbortController();
    const upstream = new Upstream({
      authority,
      clientProtocol: isHttp2 ? "h2" : "http/1.1",
      limits,
      connect: (protocols, onRead) =>
        pipeline.connect(authority, { protocols, onRead, signal: controller.signal }),
    });
    connection.once("close", () => {
      controller.abort(new EgressError("EGRESS_CLOSED", "The client closed the connection"));
      upstream[Symbol.dispose]();
    });
    return (exchange) =>
      void passExchange(exchange, { requester, authority, pipeline, upstream, startTimer });
  }
}

/** Returns the authority of a CONNECT request. */
function readConnect(request: IncomingMessage): Authority {
  const target = request.url ?? "";
  if (!connectPattern.test(target)) throw invalid("CONNECT needs a host and a port");
  const authority = parseAuthority(target);
  const { rawHeaders } = request;
  const hasBody = ["content-length", "transfer-encoding"].some(
    (name) => valuesOf(rawHeaders, name).length > 0,
  );
  if (hasBody) throw invalid("CONNECT has no body");
  for (const host of valuesOf(rawHeaders, "host")) {
    // Some clients omit the port in Host.
    const isSame = connectPattern.test(host)
      ? parseAuthority(host).text === authority.text
      : parseAuthority(host).host === authority.host;
    if (!isSame) {
      const message = "Cannot connect: CONNECT and its Host are not the same";
      throw new EgressError("EGRESS_AUTHORITY_MISMATCH", message);
    }
  }
  return authority;
}

function plainRefusal(url: string): EgressError {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return invalid("it is a proxy, which accepts CONNECT only");
  return new EgressError("EGRESS_PLAIN_HTTP", "Cannot pass on a request in plain HTTP", {
    hint: "use https:// URLs, or NO_PROXY for servers that the program starts itself on this machine; plain HTTP can be read and changed in transit",
  });
}

function invalid(state: string): EgressError {
  return new EgressError("EGRESS_REQUEST_INVALID", `Cannot serve the request: ${state}`);
}

/** Writes the last bytes of a connection, and lets the client read them. */
function endWith(socket: Duplex, bytes: Buffer, limits: ProxyLimits): void {
  socket.end(bytes);
  // Unread bytes would turn the end into a reset, which discards the answer.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), limits.requestHeadTimeoutMs);
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
}
