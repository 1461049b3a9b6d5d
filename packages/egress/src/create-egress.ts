/**
 * The one way out, put together: one pipeline, and its two doors. Nothing is
 * opened before the first request or proxy.
 */

import { resolveEgressSettings } from "./egress-settings.ts";
import type { Egress, EgressDeps, EgressSettings } from "./egress-types.ts";
import { createFetch } from "./fetch/create-fetch.ts";
import { createPipeline } from "./pipeline.ts";
import { createProxies } from "./proxy/create-proxies.ts";

/**
 * Create an egress.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createEgress(settings: EgressSettings, deps: EgressDeps): Egress {
  const resolved = resolveEgressSettings(settings);
  const pipeline = createPipeline(resolved, deps);
  const door = createFetch(pipeline, resolved);
  const proxies = createProxies(pipeline, resolved, deps);
  return {
    fetch: door.fetch,
    openProxy: proxies.open,
    async [Symbol.asyncDispose]() {
      await Promise.all([door[Symbol.asyncDispose](), proxies[Symbol.asyncDispose]()]);
      pipeline.clear();
    },
  };
}
