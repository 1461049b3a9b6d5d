/**
 * Open connections, by source and authority: two sources never share one. The
 * number of pools is bounded; the least recently used one is closed first,
 * after its requests are complete.
 */

import { createRequire } from "node:module";
import type { Pool } from "undici";
import type { Authority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { ResolvedSettings } from "../egress-settings.ts";
import type { EgressSource } from "../egress-types.ts";
import type { Pipeline } from "../pipeline.ts";

const require = createRequire(import.meta.url);

interface Entry {
  readonly pool: Pool;
  /** Aborts the connection attempts in progress. */
  readonly connecting: AbortController;
}

/** Pools of connections, which open a connection when a request needs it. Disposing destroys all of them. */
export class ConnectionPools implements AsyncDisposable {
  readonly #pipeline: Pipeline;
  readonly #settings: ResolvedSettings;
  /** The most recently used entry is at the end. */
  readonly #entries = new Map<string, Entry>();

  constructor(pipeline: Pipeline, settings: ResolvedSettings) {
    this.#pipeline = pipeline;
    this.#settings = settings;
  }

  /** Returns the pool of `source` for `authority`. Use it at once: it can be closed later. */
  poolFor({ id }: EgressSource, authority: Authority): Pool {
    const key = `${id} ${authority.text}`;
    const entry = this.#entries.get(key) ?? this.#open(authority);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#settings.maxPools) {
      const [oldest, { pool }] = this.#entries.entries().next().value as [string, Entry];
      this.#entries.delete(oldest);
      // Waits for the requests of the pool; `close` rejects only for a pool that is already closed.
      pool.close().catch(() => {});
    }
    return entry.pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map(destroy));
  }

  #open(authority: Authority): Entry {
    const settings = this.#settings;
    const connecting = new AbortController();
    let session: Buffer | undefined;
    // The one part of undici that is needed, loaded with the first connection.
    const UndiciPool = require("undici/lib/dispatcher/pool.js") as new (
      ...args: ConstructorParameters<typeof Pool>
    ) => Pool;
    const pool = new UndiciPool(`https://${authority.text}`, {
      connections: settings.connectionsPerHost,
      pipelining: 1,
      // Every host supports HTTP/1.1, and undici is faster with it, for single requests and for bursts.
      allowH2: false,
      keepAliveTimeout: settings.idleTimeoutMs,
      keepAliveMaxTimeout: settings.idleTimeoutMs,
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.bodyTimeoutMs,
      maxHeaderSize: settings.headersMaxBytes,
      connect: (_, callback) => {
        this.#pipeline.connect(authority, { session, signal: connecting.signal }).then(
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
    return { pool, connecting };
  }
}

async function destroy({ pool, connecting }: Entry): Promise<void> {
  const error = new EgressError("EGRESS_CLOSED", "Cannot send a request: the egress was closed");
  connecting.abort(error);
  await pool.destroy(error);
}
