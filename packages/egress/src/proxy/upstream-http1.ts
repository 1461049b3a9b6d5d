/** HTTP/1.1 with the origin: its connections, one request at a time on each. */

import type { TLSSocket } from "node:tls";
import { type ConnectionOwner, type ConnectReading, Http1Connection } from "./http1-connection.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { Passage } from "./upstream-exchange.ts";

/** Connections of HTTP/1.1 to one origin. */
export interface Http1Upstream extends Disposable {
  /** Have a connection that was opened elsewhere. */
  add(socket: TLSSocket): void;
  /** Have a connection to oneself: one that is idle, else a new one. */
  open(): Promise<Passage>;
}

/** Create the HTTP/1.1 side of an upstream; `connect` opens a connection to the origin with TLS done. */
export function createHttp1Upstream(limits: ProxyLimits, connect: ConnectReading): Http1Upstream {
  const all = new Set<Http1Connection>();
  const idle: Http1Connection[] = [];
  let isDisposed = false;
  const owner: ConnectionOwner = {
    onIdle: (connection) => void idle.push(connection),
    onClosed(connection) {
      all.delete(connection);
      const index = idle.indexOf(connection);
      if (index !== -1) idle.splice(index, 1);
    },
  };
  const keep = (connection: Http1Connection): Http1Connection => {
    if (isDisposed) connection.destroy();
    else all.add(connection);
    return connection;
  };
  const takeIdle = (): Http1Connection | undefined => {
    const connection = idle.pop();
    return connection === undefined || connection.isOpen ? connection : takeIdle();
  };
  return {
    add: (socket) => void idle.push(keep(Http1Connection.adopt(socket, limits, owner))),
    async open() {
      const connection = takeIdle() ?? keep(await Http1Connection.open(connect, limits, owner));
      const leave = (): void => {
        if (connection.isOpen) owner.onIdle(connection);
      };
      return {
        send(head, listener) {
          try {
            return connection.send(head, listener);
          } catch (error) {
            // Nothing of it was written.
            leave();
            throw error;
          }
        },
        leave,
      };
    },
    [Symbol.dispose]() {
      isDisposed = true;
      for (const connection of all) connection.destroy();
    },
  };
}
