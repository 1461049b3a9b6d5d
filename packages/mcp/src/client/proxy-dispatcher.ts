/**
 * Connections through an HTTP proxy. The parts of undici that only they need are
 * loaded with the first one, so that programs without a proxy start faster.
 */

import { createRequire } from "node:module";
import type { Dispatcher, Pool as PoolType, ProxyAgent as ProxyAgentType } from "undici";

/** Creates the connections through a proxy; https requests are tunnelled with CONNECT, others are forwarded. */
export function createProxyDispatcher(options: ProxyAgentType.Options): Dispatcher {
  const require = createRequire(import.meta.url);
  const ProxyAgent = require("undici/lib/dispatcher/proxy-agent.js") as typeof ProxyAgentType;
  const Pool = require("undici/lib/dispatcher/pool.js") as typeof PoolType;
  const connect = require("undici/lib/api/api-connect.js") as Dispatcher["connect"];
  return new ProxyAgent({
    ...options,
    // The full undici package adds this method to its dispatchers when it is loaded.
    clientFactory: (origin, settings) => Object.assign(new Pool(origin, settings), { connect }),
  });
}
