/**
 * The services that toolspecs call, for the time of one test run: an HTTPS
 * server on loopback that answers for every host with a certificate of its own
 * authority, keeps the last request as it came, and answers `{}`.
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { createAuthority, readAuthority } from "@toolcrib/egress";

/** A request as it arrived. */
export interface ArrivedRequest {
  readonly method: string;
  /** With the host that the client named. */
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
  /** The requests that arrived since the last time this was called. */
  take(): readonly ArrivedRequest[];
}

/** Start a mock. */
export async function startMockApi(now: () => number): Promise<MockApi> {
  const deps = { now, randomBytes };
  const own = await createAuthority(deps);
  const authority = await readAuthority(own, deps);
  const arrived: ArrivedRequest[] = [];
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
    readArrived(request).then(
      (one) => {
        arrived.push(one);
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
    take: () => arrived.splice(0),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function readArrived(request: IncomingMessage): Promise<ArrivedRequest> {
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
