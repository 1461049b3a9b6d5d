/**
 * An HTTPS server on loopback that keeps what it was sent, header by header as
 * they came, and answers as a test tells it to. Never listens on anything but
 * loopback.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { TestCertificate } from "./test-certificates.ts";

/** A request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as they stood in the request line. */
  readonly target: string;
  /** In the order in which they came, names in their case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The name in the TLS handshake. */
  readonly servername: string | undefined;
  /** Which connection it came by; the first is 1. */
  readonly connection: number;
}

/** How the server behaves. */
export interface TlsServerOptions {
  readonly certificate: TestCertificate;
  /** An address of loopback. @default "127.0.0.1" */
  readonly address?: string;
  /** Called when a request is there with its body. @default 200 with `{}` */
  readonly respond?: (request: RecordedRequest, response: ServerResponse) => void;
}

/** A running HTTPS server. Disposing ends its connections. */
export interface TlsServer extends AsyncDisposable {
  readonly port: number;
  /** For `connectTo`. */
  readonly endpoint: string;
  /** Every request so far. */
  readonly requests: readonly RecordedRequest[];
  /** Connections made so far, those included whose handshake failed. */
  readonly connectionCount: number;
  /** Connections that are open now. */
  readonly openCount: number;
}

/** Start an HTTPS server. */
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
      // The client went away within its body.
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
