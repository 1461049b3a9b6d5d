/** http-mitm-proxy in a process of its own, for the benchmark of the proxy. Its upstream is the origin on loopback. */

import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Proxy as MitmProxy } from "http-mitm-proxy";

const [port, certificate, directory] = process.argv.slice(2) as [string, string, string];
const proxy = new MitmProxy();
proxy.onError(() => {
  // A client that closes its connection is an error to it.
});
proxy.onRequest((context, next) => {
  const options = context.proxyToServerRequestOptions;
  if (options !== undefined) {
    Object.assign(options, {
      host: "127.0.0.1",
      port: Number(port),
      servername: "api.example.com",
      ca: certificate,
    });
  }
  next();
});
proxy.listen({ host: "127.0.0.1", port: 0, sslCaDir: directory, keepAlive: true }, () => {
  const server: unknown = Reflect.get(proxy, "httpServer");
  const { port: own } = (server as { address(): AddressInfo }).address();
  process.send?.({ url: `http://127.0.0.1:${own}`, caFile: join(directory, "certs/ca.pem") });
});
process.once("disconnect", () => process.exit());
