/**
 * Serves the inside of tunnels, after CONNECT was accepted: terminates TLS with
 * the leaf of the host, and passes the requests on. Aborts a handshake for
 * another name. The authority of CONNECT is the destination of the tunnel,
 * regardless of what the client sends inside.
 */

import type { Duplex } from "node:stream";
import { createServer, DEFAULT_CIPHERS as defaultCiphers, type Server, type TLSSocket } from "node:tls";
import { canonicalHost } from "@toolcrib/hosts";
import type { Authority } from "../authority.ts";
import type { ClientExchange } from "./client-exchange.ts";
import { ClientHttp1Server } from "./client-http1-server.ts";
import { serveHttp2 } from "./client-http2.ts";
import { type Expiring, HostCache, type LeafCache } from "./host-cache.ts";
import type { ProxyLimits } from "./proxy-limits.ts";

/** The inputs of a tunnel server. */
export interface TunnelOptions {
  readonly leaves: LeafCache;
  readonly limits: ProxyLimits;
  readonly now: () => number;
  /** Called once for each connection, after the TLS handshake. Returns the handler of its requests. */
  onConnection(authority: Authority, connection: Duplex): (exchange: ClientExchange) => void;
}

/** The connection to the client stays on this machine, so the fastest cipher comes first. */
const tunnelCiphers = `TLS_AES_128_GCM_SHA256:${defaultCiphers}`;

/** Serves the inside of tunnels. Does not listen itself. */
export class TunnelServer implements Disposable {
  readonly #options: TunnelOptions;
  readonly #http1: ClientHttp1Server;
  readonly #servers: HostCache<Server>;

  constructor(options: TunnelOptions) {
    this.#options = options;
    this.#http1 = new ClientHttp1Server(options.limits);
    this.#servers = new HostCache(options.now);
  }

  /** Serves `connection`, whose client has received the acceptance of CONNECT to `authority`. */
  serve(connection: Duplex, authority: Authority): void {
    const { value: server } = this.#servers.get(authority.text, () => this.#createServer(authority));
    server.emit("connection", connection);
  }

  [Symbol.dispose](): void {
    this.#http1[Symbol.dispose]();
  }

  #createServer(authority: Authority): Expiring<Server> {
    const { leaves, limits, onConnection } = this.#options;
    const { value: leaf, goodUntil } = leaves.leafOf(authority.host);
    const server = createServer({
      cert: leaf.certificate,
      key: leaf.key,
      ALPNProtocols: ["h2", "http/1.1"],
      ciphers: tunnelCiphers,
      highWaterMark: limits.highWaterBytes,
      handshakeTimeout: limits.handshakeTimeoutMs,
      SNICallback(name, done) {
        // Without a context, Node uses that of the server, which is for this host.
        if (canonicalHost(name) === authority.host) done(null);
        else done(new Error("The name of the handshake is not that of CONNECT"));
      },
    });
    // A client that aborts the handshake, or does not trust the leaf, reports this itself.
    server.on("tlsClientError", (_error, connection) => connection.destroy());
    server.on("secureConnection", (connection: TLSSocket) => {
      connection.on("error", () => connection.destroy());
      const onRequest = onConnection(authority, connection);
      if (connection.alpnProtocol === "h2") serveHttp2(connection, limits, onRequest);
      else this.#http1.serve(connection, onRequest);
    });
    return { value: server, goodUntil };
  }
}
