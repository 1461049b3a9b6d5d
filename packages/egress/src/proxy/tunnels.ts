/**
 * What is behind a CONNECT that was granted: TLS is ended with the leaf of its
 * host, and the requests inside are handed on. A handshake for another name is
 * broken off. Whatever a client says inside, the authority of CONNECT is where
 * the tunnel leads.
 */

import type { Duplex } from "node:stream";
import { createServer, DEFAULT_CIPHERS as defaultCiphers, type Server, type TLSSocket } from "node:tls";
import { canonicalHost } from "@toolcrib/hosts";
import type { Authority } from "../authority.ts";
import type { ClientExchange } from "./client-exchange.ts";
import { createHttp1Side } from "./client-http1.ts";
import { serveHttp2 } from "./client-http2.ts";
import { createHostCache, type LeafCache } from "./leaf-cache.ts";
import type { ProxyLimits } from "./proxy-limits.ts";

/** What tunnels are served with. */
export interface TunnelSetting {
  readonly leaves: LeafCache;
  readonly limits: ProxyLimits;
  readonly now: () => number;
  /** Called once for each connection, when TLS is done: what answers its requests. */
  onConnection(authority: Authority, connection: Duplex): (exchange: ClientExchange) => void;
}

/** Serves the insides of tunnels. */
export interface Tunnels extends Disposable {
  /** Serve `connection`, the client of which was told that it reached `authority`. */
  serve(connection: Duplex, authority: Authority): void;
}

/** The way to the client does not leave the machine: of the ciphers, the quickest first. */
const tunnelCiphers = `TLS_AES_128_GCM_SHA256:${defaultCiphers}`;

/** Create the inside of a proxy. It listens on nothing itself. */
export function createTunnels({ leaves, limits, now, onConnection }: TunnelSetting): Tunnels {
  const http1 = createHttp1Side(limits);
  const servers = createHostCache<Server>(now);
  return {
    serve(connection, authority) {
      servers(authority.text, () => startServer(authority)).value.emit("connection", connection);
    },
    [Symbol.dispose]() {
      http1[Symbol.dispose]();
    },
  };

  function startServer(authority: Authority) {
    const { value: leaf, goodUntil } = leaves(authority.host);
    const server = createServer({
      cert: leaf.certificate,
      key: leaf.key,
      ALPNProtocols: ["h2", "http/1.1"],
      ciphers: tunnelCiphers,
      highWaterMark: limits.highWaterBytes,
      handshakeTimeout: limits.handshakeTimeoutMs,
      SNICallback(name, done) {
        // Without a context that of the server is taken, which is for this host.
        if (canonicalHost(name) === authority.host) done(null);
        else done(new Error("The name of the handshake is not that of CONNECT"));
      },
    });
    // A client that breaks the handshake off, or does not trust the leaf, knows it.
    server.on("tlsClientError", (_error, connection) => connection.destroy());
    server.on("secureConnection", (connection: TLSSocket) => {
      connection.on("error", () => connection.destroy());
      const onRequest = onConnection(authority, connection);
      if (connection.alpnProtocol === "h2") serveHttp2(connection, limits, onRequest);
      else http1.serve(connection, onRequest);
    });
    return { value: server, goodUntil };
  }
}
