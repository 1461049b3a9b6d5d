/**
 * Connections that are kept open, by source and authority: no two sources ever
 * share one. Bounded in number; what was used longest ago is closed first, once
 * its requests are done.
 */

import type { Pool } from "undici";
import UndiciPool from "undici/lib/dispatcher/pool.js";
import type { Authority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { EgressSource } from "../egress-types.ts";
import type { Pipeline } from "../pipeline.ts";

/** Pools of connections. Disposing destroys them all. */
export interface ConnectionPools extends AsyncDisposable {
  /** The pool of `source` for `authority`. To be used at once: it may be closed later. */
  poolFor(source: EgressSource, authority: Authority): Pool;
}

interface Entry {
  readonly pool: Pool;
  /** Ends the connection attempts that are under way. */
  readonly dialling: AbortController;
}

/** Create a set of pools; a connection is made when a request needs it. */
export function createConnectionPools(pipeline: Pipeline, settings: ResolvedSettings): ConnectionPools {
  const entries = new Map<string, Entry>();

  function open(authority: Authority): Entry {
    const dialling = new AbortController();
    let session: Buffer | undefined;
    const pool = new UndiciPool(`https://${authority.text}`, {
      connections: settings.connectionsPerHost,
      pipelining: 1,
      // Every host speaks HTTP/1.1, and undici is faster with it, one request at a time and in bursts.
      allowH2: false,
      keepAliveTimeout: settings.idleTimeoutMs,
      keepAliveMaxTimeout: settings.idleTimeoutMs,
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.bodyTimeoutMs,
      maxHeaderSize: settings.headersMaxBytes,
      connect: (_, callback) => {
        pipeline.dial(authority, { session, signal: dialling.signal }).then(
          (socket) => {
            socket.on("session", (ticket) => {
              session = ticket;
            });
            callback(null, socket);
          },
          (error: Error) => callback(error, null),
        );
      },
    });
    return { pool, dialling };
  }

  async function destroy({ pool, dialling }: Entry): Promise<void> {
    const error = new EgressError("EGRESS_CLOSED", "Cannot send a request: the egress was closed");
    dialling.abort(error);
    await pool.destroy(error);
  }

  return {
    poolFor({ id }, authority) {
      const key = `${id} ${authority.text}`;
      const entry = entries.get(key) ?? open(authority);
      // The one used last is at the end.
      entries.delete(key);
      entries.set(key, entry);
      if (entries.size > settings.maxPools) {
        const [oldest, { pool }] = entries.entries().next().value as [string, Entry];
        entries.delete(oldest);
        // Waits for its requests; `close` rejects only for a pool that is closed already.
        pool.close().catch(() => {});
      }
      return entry.pool;
    },
    async [Symbol.asyncDispose]() {
      const all = [...entries.values()];
      entries.clear();
      await Promise.all(all.map(destroy));
    },
  };
}
