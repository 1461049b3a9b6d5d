/**
 * A proxy for one source, an origin on loopback that speaks HTTP/1.1 and HTTP/2 over
 * TLS, and clients for tests: a raw CONNECT, TLS inside of the tunnel, and the HTTP
 * clients of Node inside of TLS.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type RequestListener, request as requestHttp1 } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createHttp1Server } from "node:https";
import { type AddressInfo, connect as connectTcp, type Socket } from "node:net";
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer,
  type TLSSocket,
  type TlsOptions,
  type Server as TlsServer,
} from "node:tls";
import {
  createEgress,
  type EgressCredential,
  type EgressEvent,
  type EgressProxy,
  type EgressSettings,
  type EgressSource,
} from "@toolcrib/egress";
import {
  createTestAuthority,
  type ManualTimers,
  makeTemporaryDirectory,
  type TemporaryDirectory,
  type TestCertificate,
} from "@toolcrib/testing";
import { host, patterns } from "./fixture.ts";

/** The protocols that a client can speak inside a tunnel. */
export const protocols = ["http/1.1", "h2"] as const;
/** A protocol inside of a tunnel. */
export type Protocol = (typeof protocols)[number];

/** Options of an origin. */
export interface OriginOptions {
  /** The protocols that it offers. @default both */
  readonly protocols?: readonly Protocol[];
  /** Responds to a request in either protocol. @default 200 with the request as JSON */
  readonly respond?: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Handles an HTTP/2 stream, instead of `respond`. */
  readonly onStream?: (stream: ServerHttp2Stream, headers: OutgoingHttpHeaders) => void;
  /** Handles a connection after the TLS handshake, instead of HTTP. */
  readonly onConnection?: (connection: TLSSocket) => void;
}

/** Options of the proxy and its origin. */
export interface ProxyFixtureOptions extends OriginOptions {
  readonly hosts?: readonly string[];
  readonly allow?: readonly string[];
  readonly ports?: readonly number[];
  /** Leaves the TLS of these patterns unread. @default none */
  readonly passthrough?: readonly string[];
  /** Origins that settings of the operator name. @default none */
  readonly origins?: EgressSource["origins"];
  /** Returns the proxy of such an origin. @default none */
  readonly via?: EgressSource["via"];
  readonly credentials?: readonly EgressCredential[];
  readonly settings?: EgressSettings;
  /** @default timers of Node */
  readonly timers?: ManualTimers;
}

/** A running proxy with its origin and clients. */
export interface ProxyFixture extends AsyncDisposable {
  readonly proxy: EgressProxy;
  readonly directory: TemporaryDirectory;
  /** The port of the origin on 127.0.0.1. */
  readonly originPort: number;
  readonly events: EgressEvent[];
  /** Returns the number of open connections at the origin. */
  openConnections(): number;
  /** Returns the number of connections that the origin has accepted. */
  connectionCount(): number;
  /** Sends a raw CONNECT request. */
  connect(authority?: string, headers?: readonly string[]): Promise<Connected>;
  /** Opens a tunnel and starts TLS in it. */
  secure(options?: SecureOptions): Promise<TLSSocket>;
  /** Sends one request in its own tunnel. */
  send(request: SentRequest): Promise<Received>;
}

/** The response of the proxy to CONNECT. */
export interface Connected {
  readonly status: number;
  /** The head, and the body if the request was refused. */
  readonly text: string;
  readonly socket: Socket;
}

/** Options of TLS inside of a tunnel. */
export interface SecureOptions {
  readonly authority?: string;
  readonly servername?: string;
  readonly protocols?: readonly string[];
}

/** A request to send. */
export interface SentRequest {
  readonly protocol: Protocol;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
  /** Is called with the bytes of the response body that have arrived, at each piece. */
  readonly onPiece?: (arrived: Buffer) => void;
}

/** A received response. */
export interface Received {
  readonly status: number;
  readonly headers: { readonly [name: string]: unknown };
  readonly trailers: { readonly [name: string]: unknown };
  readonly body: Buffer;
  /** Parses `body` as JSON. */
  json(): Record<string, unknown>;
}

/** Starts the origin and the proxy. */
export async function startProxyFixture(options: ProxyFixtureOptions = {}): Promise<ProxyFixture> {
  const { hosts = [host], allow = hosts, ports, credentials = [], settings, timers } = options;
  const { passthrough = [], origins = [], via } = options;
  const directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  const origin = await startOrigin(authority.sign({ hosts }), options);
  const events: EgressEvent[] = [];
  const egress = createEgress(
    {
      internalRanges: ["127.0.0.0/8"],
      caCertificates: [authority.certificate],
      connectTo: Object.fromEntries(hosts.map((one) => [one, `127.0.0.1:${origin.port}`])),
      ...settings,
    },
    {
      directory: directory.join("egress"),
      now: Date.now,
      randomBytes,
      startTimer: timers?.startTimer,
      onEvent: (event) => void events.push(event),
    },
  );
  const proxy = await egress.openProxy({
    id: "process:test",
    allow: [
      ...patterns(...allow),
      ...patterns(...passthrough).map((pattern) => ({ ...pattern, tls: "passthrough" as const })),
    ],
    origins,
    ...(via === undefined ? {} : { via }),
    ...(ports === undefined ? {} : { ports }),
    credentials,
  });
  const sockets = new Set<Socket>();
  const connect: ProxyFixture["connect"] = async (asked = `${host}:443`, headers) => {
    const connected = await connectBy(proxy.url, asked, headers);
    sockets.add(connected.socket);
    return connected;
  };
  const secure: ProxyFixture["secure"] = async ({ authority: asked, ...more } = {}) => {
    const { status, socket, text } = await connect(asked);
    assert.equal(status, 200, text);
    return await secureInside(socket, proxy, more);
  };
  return {
    proxy,
    directory,
    originPort: origin.port,
    events,
    openConnections: () => origin.open.size,
    connectionCount: origin.connectionCount,
    connect,
    secure,
    async send(request) {
      const inside = await secure({ protocols: [request.protocol] });
      try {
        return await sendInside(inside, request);
      } finally {
        inside.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await egress[Symbol.asyncDispose]();
      await origin.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function startOrigin(certificate: TestCertificate, options: OriginOptions) {
  const { protocols: offered = protocols, respond, onStream, onConnection } = options;
  const server = createOrigin(
    { cert: certificate.certificate, key: certificate.key, ALPNProtocols: [...offered] },
    { protocols: offered, respond, onStream, onConnection },
  );
  const open = new Set<Socket>();
  let count = 0;
  server.on("connection", (socket: Socket) => {
    count += 1;
    open.add(socket);
    // A server of both protocols would wait for the acknowledgement of each piece.
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.on("sessionError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    open,
    connectionCount: () => count,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function createOrigin(
  settings: TlsOptions,
  { protocols: offered = protocols, respond = echo, onStream, onConnection }: OriginOptions,
): TlsServer {
  if (onConnection !== undefined) return createServer(settings, onConnection);
  if (!offered.includes("h2")) {
    // Tests use only the common properties of both request types.
    return createHttp1Server(settings, respond as unknown as RequestListener);
  }
  const server = createSecureServer({ ...settings, allowHTTP1: true });
  if (onStream === undefined) server.on("request", respond);
  else server.on("stream", onStream);
  return server;
}

/** Responds with the request as JSON. */
export async function echo(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  } catch {
    // The client disconnected within its body, so nothing is sent.
    return;
  }
  const { method, url, httpVersion, headers, rawHeaders, trailers } = request;
  response.setHeader("content-type", "application/json");
  const body = Buffer.concat(pieces).toString("latin1");
  response.end(
    JSON.stringify({
      method,
      url,
      version: httpVersion,
      headers: { ...headers },
      rawHeaders,
      trailers,
      body,
    }),
  );
}

async function connectBy(
  url: string,
  authority: string,
  headers: readonly string[] = [`Host: ${authority}`],
): Promise<Connected> {
  const { port } = new URL(url);
  const socket = connectTcp(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write([`CONNECT ${authority} HTTP/1.1`, ...headers, "", ""].join("\r\n"), "latin1");
  let text = "";
  for (;;) {
    const piece: Buffer | null = socket.read();
    if (piece !== null) text += piece.toString("latin1");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
    if (status === 200 && text.includes("\r\n\r\n")) return { status, text, socket };
    if (socket.readableEnded || socket.destroyed) return { status, text, socket };
    await Promise.race([once(socket, "readable"), once(socket, "end"), once(socket, "close")]);
  }
}

/** Starts TLS and trusts the authority of the proxy. */
async function secureInside(
  socket: Socket,
  proxy: EgressProxy,
  { servername = host, protocols: offered = ["http/1.1"] }: SecureOptions,
): Promise<TLSSocket> {
  const { readFileSync } = await import("node:fs");
  const options: ConnectionOptions = {
    socket,
    servername,
    ca: readFileSync(proxy.caFile),
    ALPNProtocols: [...offered],
    // The test is about the proxy's reaction to another name, so Node's own check is disabled.
    checkServerIdentity: () => undefined,
  };
  const inside = connectTls(options);
  inside.on("error", () => {});
  const failed = once(inside, "close").then(() => {
    throw new Error("The handshake was refused");
  });
  await Promise.race([once(inside, "secureConnect"), failed]);
  failed.catch(() => {});
  return inside;
}

/** Sends one HTTP/1.1 request on a connection inside of a tunnel. */
export async function sendInside(inside: TLSSocket, request: SentRequest): Promise<Received> {
  if (request.protocol === "h2") {
    await using session = openSession(inside);
    return await sendHttp2(session.session, request);
  }
  return await sendHttp1(inside, request);
}

/** Opens an HTTP/2 session on a connection inside of a tunnel; disposing ends it. */
export function openSession(inside: TLSSocket): AsyncDisposable & { readonly session: ClientHttp2Session } {
  const session = connectHttp2(`https://${host}`, { createConnection: () => inside });
  session.on("error", () => {});
  return {
    session,
    async [Symbol.asyncDispose]() {
      if (session.destroyed) return;
      const closed = once(session, "close");
      session.destroy();
      await closed;
    },
  };
}

async function sendHttp1(inside: TLSSocket, request: SentRequest): Promise<Received> {
  const { method = "GET", path = "/", headers = {}, body } = request;
  const sent = requestHttp1({
    createConnection: () => inside,
    method,
    path,
    headers: {
      host,
      ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = await once(sent, "response");
  const received = await readBody(response, request);
  return toReceived(response.statusCode, response.headers, response.trailers, received);
}

/** Sends one request as a stream of a session. */
export async function sendHttp2(session: ClientHttp2Session, request: SentRequest): Promise<Received> {
  const { method = "GET", path = "/", headers = {}, body } = request;
  const stream = session.request(
    { ":method": method, ":path": path, ...headers },
    { endStream: body === undefined },
  );
  let trailers = {};
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  if (body !== undefined) stream.end(body);
  const [head] = await once(stream, "response");
  const received = await readBody(stream, request);
  return toReceived(Number(head[":status"]), head, trailers, received);
}

async function readBody(stream: AsyncIterable<Buffer>, { onPiece }: SentRequest): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) {
    pieces.push(piece);
    onPiece?.(Buffer.concat(pieces));
  }
  return Buffer.concat(pieces);
}

function toReceived(
  status: number,
  headers: { readonly [name: string]: unknown },
  trailers: { readonly [name: string]: unknown },
  body: Buffer,
): Received {
  return { status, headers, trailers, body, json: () => JSON.parse(body.toString("utf8")) };
}

/** Reads a connection to its end. */
export async function readToEnd(connection: Socket): Promise<string> {
  let text = "";
  connection.on("data", (piece: Buffer) => {
    text += piece.toString("latin1");
  });
  if (!connection.closed) await once(connection, "close");
  return text;
}
