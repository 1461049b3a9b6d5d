/**
 * The way from one tunnel to its origin. The connections belong to the client's
 * one connection and end with it: no client meets what another one left, and
 * what is bound to a connection (a login, an order) stays so. A client of
 * HTTP/1.1 gets HTTP/1.1; one of HTTP/2 gets HTTP/2 where the origin speaks it.
 */

import type { OnReadOpts } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Authority } from "../authority.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { Passage } from "./upstream-exchange.ts";
import { createHttp1Upstream } from "./upstream-http1.ts";
import { type Http2Upstream, openHttp2Upstream } from "./upstream-http2.ts";

/** Opens a connection to the origin, TLS done, with one of `protocols`. What it reads goes where `onRead` says. */
export type DialOrigin = (protocols: readonly string[], onRead?: OnReadOpts) => Promise<TLSSocket>;

/** The way to the origin of one tunnel. */
export interface Upstream extends Disposable {
  /**
   * Have a way for one request.
   *
   * @throws {EgressError} when there is none to be had.
   */
  open(): Promise<Passage>;
}

/** Create the way to `authority` for a client that speaks HTTP/2 or not. Connects when it is asked to. */
export function createUpstream(
  authority: Authority,
  clientProtocol: "h2" | "http/1.1",
  limits: ProxyLimits,
  dial: DialOrigin,
): Upstream {
  const http1 = createHttp1Upstream(limits, (onRead) => dial(["http/1.1"], onRead));
  let http2: Http2Upstream | undefined;
  let prefersHttp2 = clientProtocol === "h2";
  let opening: Promise<void> | undefined;

  async function openFirst(): Promise<void> {
    const connection = await dial(["h2", "http/1.1"]);
    if (connection.alpnProtocol === "h2") {
      http2?.[Symbol.dispose]();
      http2 = openHttp2Upstream(connection, authority.text, limits);
    } else {
      prefersHttp2 = false;
      http1.add(connection);
    }
  }

  return {
    async open() {
      if (prefersHttp2 && http2?.isOpen !== true) {
        // Requests that come at the same time share the connection.
        opening ??= openFirst().finally(() => {
          opening = undefined;
        });
        await opening;
      }
      if (prefersHttp2 && http2 !== undefined) return http2.passage;
      return await http1.open();
    },
    [Symbol.dispose]() {
      http1[Symbol.dispose]();
      http2?.[Symbol.dispose]();
    },
  };
}
