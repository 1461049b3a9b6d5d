/** HTTP/1.1 with the origin: a set of connections, with one request at a time on each. */

import type { TLSSocket } from "node:tls";
import { type ConnectionOwner, type ConnectReading, Http1Connection } from "./http1-connection.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { UpstreamLease } from "./upstream-exchange.ts";

/** Connections of HTTP/1.1 to one origin. Disposing closes them. */
export class Http1Upstream implements Disposable, ConnectionOwner {
  readonly #limits: ProxyLimits;
  readonly #connect: ConnectReading;
  readonly #all = new Set<Http1Connection>();
  readonly #idle: Http1Connection[] = [];
  #isDisposed = false;

  /** @param connect opens a connection to the origin, including TLS. */
  constructor(limits: ProxyLimits, connect: ConnectReading) {
    this.#limits = limits;
    this.#connect = connect;
  }

  /** Adds an open connection. */
  add(socket: TLSSocket): void {
    this.#idle.push(this.#keep(Http1Connection.adopt(socket, this.#limits, this)));
  }

  /** Leases an idle connection, or a new one. */
  async open(): Promise<UpstreamLease> {
    const connection =
      this.#takeIdle() ?? this.#keep(await Http1Connection.open(this.#connect, this.#limits, this));
    const release = (): void => {
      if (connection.isOpen) this.onIdle(connection);
    };
    return {
      send(head, listener) {
        try {
          return connection.send(head, listener);
        } catch (error) {
          // Nothing was written.
          release();
          throw error;
        }
      },
      release,
    };
  }

  onIdle(connection: Http1Connection): void {
    this.#idle.push(connection);
  }

  onClosed(connection: Http1Connection): void {
    this.#all.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const connection of this.#all) connection.destroy();
  }

  #keep(connection: Http1Connection): Http1Connection {
    if (this.#isDisposed) connection.destroy();
    else this.#all.add(connection);
    return connection;
  }

  #takeIdle(): Http1Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.isOpen) return connection;
    }
  }
}
