/**
 * A mock of the services that toolspecs call, for one test run: an HTTPS server on
 * loopback that has a certificate of its own authority for every host, records
 * requests, and responds with `{}`.
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { createAuthority, readAuthority } from "@toolcrib/egress";

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the host from the client. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A running mock. */
export interface MockApi extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Its authority, PEM. */
  readonly certificate: string;
  /** Returns the requests since the last call of this method. */
  take(): readonly ReceivedRequest[];
}

/** Starts a mock. */
export async function startMockApi(now: () => number): Promise<MockApi> {
  const deps = { now, randomBytes };
  const own = await createAuthority(deps);
  const authority = await readAuthority(own, deps);
  const received: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({
    SNICallback(host, done) {
      const { certificate, key } = authority.mint(host.toLowerCase());
      done(null, createSecureContext({ cert: certificate, key }));
    },
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.on("request", (request, response) => {
    readRequest(request).then(
      (one) => {
        received.push(one);
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end("{}");
      },
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `127.0.0.1:${port}`,
    certificate: own.certificate,
    take: () => received.splice(0),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const { rawHeaders } = request;
  const headers: { [name: string]: string } = {};
  for (let at = 0; at < rawHeaders.length; at += 2) headers[rawHeaders[at] ?? ""] = rawHeaders[at + 1] ?? "";
  return {
    method: request.method ?? "",
    url: `https://${request.headers.host ?? ""}${request.url ?? ""}`,
    headers,
    body: new Uint8Array(Buffer.concat(pieces)),
  };
}
