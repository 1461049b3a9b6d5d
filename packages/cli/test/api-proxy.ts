/** A service on loopback, and an HTTP proxy that opens a tunnel to it for every requested host. */

import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import {
  createTestAuthority,
  startTlsServer,
  type TlsServer,
  type TlsServerOptions,
} from "@toolcrib/testing";

/** A running service and its proxy. */
export interface ApiProxy extends AsyncDisposable {
  readonly server: TlsServer;
  /** The authorities of the CONNECT requests. */
  readonly connects: readonly string[];
  /** The value for `HTTPS_PROXY`. */
  readonly url: string;
  /** PEM file with the certificate authority of the service, for `SSL_CERT_FILE`. */
  readonly certificate: string;
}

/** Starts the service and the proxy. */
export async function startApiProxy(
  hosts: readonly string[],
  respond: TlsServerOptions["respond"],
): Promise<ApiProxy> {
  const authority = createTestAuthority();
  const server = await startTlsServer({ certificate: authority.sign({ hosts }), respond });
  const connects: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const proxy = createServer();
  proxy.on("connect", (request, client) => {
    connects.push(String(request.url));
    const upstream = connect(server.port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) sockets.add(socket);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    server,
    connects,
    url: `http://127.0.0.1:${port}`,
    certificate: authority.certificate,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
      await server[Symbol.asyncDispose]();
    },
  };
}
