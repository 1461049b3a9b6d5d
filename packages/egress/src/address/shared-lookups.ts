/**
 * Shares lookups that run at the same time: a program that opens fifty connections
 * to one host causes one question to DNS instead of fifty, of which a busy name
 * server drops some. Keeps no answer: the next connection asks again.
 */

import { abortable } from "@toolcrib/lifecycle";
import type { ResolveHost } from "../egress-types.ts";

/** A lookup that runs, and how many connections wait for it. */
interface Lookup {
  readonly found: Promise<readonly string[]>;
  readonly controller: AbortController;
  waiting: number;
}

/** Returns a resolver that asks `resolve` once for all lookups of a host that run at the same time. */
export function shareLookups(resolve: ResolveHost): ResolveHost {
  const running = new Map<string, Lookup>();
  const start = (host: string): Lookup => {
    const controller = new AbortController();
    const lookup: Lookup = { found: resolve(host, controller.signal), controller, waiting: 0 };
    running.set(host, lookup);
    return lookup;
  };
  return async (host, signal) => {
    const lookup = running.get(host) ?? start(host);
    lookup.waiting += 1;
    try {
      return await abortable(lookup.found, signal);
    } finally {
      lookup.waiting -= 1;
      // Nobody waits for a lookup that hangs: the next connection starts another one.
      if (lookup.waiting === 0) {
        lookup.controller.abort();
        if (running.get(host) === lookup) running.delete(host);
      }
    }
  };
}
