/**
 * An HTTPS server on loopback that records each request, including the order and
 * case of its headers, and responds as the test decides. Never listens on anything
 * but loopback.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { TestCertificate } from "./test-certificates.ts";

/** A recorded request. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, exactly as in the request line. */
  readonly target: string;
  /** In their original order, with the original case of their names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The name in the TLS handshake. */
  readonly servername: string | undefined;
  /** The number of its connection; the first is 1. */
  readonly connection: number;
}

/** Options of `startTlsServer`. */
export interface TlsServerOptions {
  readonly certificate: TestCertificate;
  /** A loopback address. @default "127.0.0.1" */
  readonly address?: string;
  /** Called for each complete request. @default 200 with `{}` */
  readonly respond?: (request: RecordedRequest, response: ServerResponse) => void;
}

/** A running HTTPS server. Disposing ends its connections. */
export interface TlsServer extends AsyncDisposable {
  readonly port: number;
  /** Address and port, for `connectTo`. */
  readonly endpoint: string;
  /** Every request so far. */
  readonly requests: readonly RecordedRequest[];
  /** Connections so far, including those whose handshake failed. */
  readonly connectionCount: number;
  /** Open connections. */
  readonly openCount: number;
}

/** Starts an HTTPS server. */
export async function startTlsServer({
  certificate,
  address = "127.0.0.1",
  respond = respondEmpty,
}: TlsServerOptions): Promise<TlsServer> {
  const requests: RecordedRequest[] = [];
  const numbers = new WeakMap<TLSSocket, number>();
  const open = new Set<{ destroy(): void }>();
  let connectionCount = 0;
  const server = createServer({
    cert: certificate.certificate,
    key: certificate.key,
    keepAliveTimeout: 60_000,
  });
  server.on("connection", (socket) => {
    connectionCount += 1;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  server.on("secureConnection", (socket) => numbers.set(socket, connectionCount));
  server.on("tlsClientError", () => {});
  server.on("request", (request, response) => {
    record(request, numbers).then(
      (recorded) => {
        requests.push(recorded);
        respond(recorded, response);
      },
      // The client closed the connection before the end of its body.
      () => response.destroy(),
    );
  });
  server.listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    endpoint: `${address}:${port}`,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    get openCount() {
      return open.size;
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function record(
  request: IncomingMessage,
  numbers: WeakMap<TLSSocket, number>,
): Promise<RecordedRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const socket = request.socket as TLSSocket;
  const { rawHeaders } = request;
  const servername: unknown = Reflect.get(socket, "servername");
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    headers: rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : [],
    ),
    body: Buffer.concat(pieces),
    servername: typeof servername === "string" ? servername : undefined,
    connection: numbers.get(socket) ?? 0,
  };
}

function respondEmpty(_: RecordedRequest, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
}
