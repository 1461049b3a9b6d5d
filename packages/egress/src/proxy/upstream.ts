/**
 * The connections from one client connection to its origin. They end with the
 * client's connection: no client reuses the state of another client's
 * connection, and state that is bound to a connection (a login) is preserved. A
 * client of HTTP/1.1 gets HTTP/1.1; a client of HTTP/2 gets HTTP/2 if the origin
 * supports it.
 */

import type { OnReadOpts } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Authority } from "../authority.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { UpstreamLease } from "./upstream-exchange.ts";
import { Http1Upstream } from "./upstream-http1.ts";
import { Http2Upstream } from "./upstream-http2.ts";

/** Opens a connection to the origin, including TLS, with one of `protocols`. `onRead` receives its data. */
export type ConnectOrigin = (protocols: readonly string[], onRead?: OnReadOpts) => Promise<TLSSocket>;

/** The inputs of an upstream. */
export interface UpstreamOptions {
  readonly authority: Authority;
  readonly clientProtocol: "h2" | "http/1.1";
  readonly limits: ProxyLimits;
  readonly connect: ConnectOrigin;
}

/** The connections to one origin. Connects on demand. Disposing closes them. */
export class Upstream implements Disposable {
  readonly #options: UpstreamOptions;
  readonly #http1: Http1Upstream;
  #http2: Http2Upstream | undefined;
  #prefersHttp2: boolean;
  #opening: Promise<void> | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#prefersHttp2 = options.clientProtocol === "h2";
    this.#http1 = new Http1Upstream(options.limits, (onRead) => options.connect(["http/1.1"], onRead));
  }

  /**
   * Leases a connection for one request.
   *
   * @throws {EgressError} if the connection fails.
   */
  async open(): Promise<UpstreamLease> {
    if (this.#prefersHttp2 && this.#http2?.isOpen !== true) {
      // Concurrent requests share the connection.
      this.#opening ??= this.#openFirst().finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
    if (this.#prefersHttp2 && this.#http2 !== undefined) return this.#http2.lease;
    return await this.#http1.open();
  }

  [Symbol.dispose](): void {
    this.#http1[Symbol.dispose]();
    this.#http2?.[Symbol.dispose]();
  }

  async #openFirst(): Promise<void> {
    const { authority, limits, connect } = this.#options;
    const connection = await connect(["h2", "http/1.1"]);
    if (connection.alpnProtocol === "h2") {
      this.#http2?.[Symbol.dispose]();
      this.#http2 = new Http2Upstream(connection, authority.text, limits);
    } else {
      this.#prefersHttp2 = false;
      this.#http1.add(connection);
    }
  }
}
