/**
 * The one way out, put together: one pipeline, and its two doors. Nothing is
 * opened before the first request or proxy.
 */

import { EgressError } from "./egress-error.ts";
import { resolveEgressSettings } from "./egress-settings.ts";
import type { Egress, EgressDeps, EgressSettings } from "./egress-types.ts";
import { createFetch } from "./fetch/create-fetch.ts";
import { createPipeline } from "./pipeline.ts";
import type { Proxies } from "./proxy/create-proxies.ts";

/**
 * Create an egress.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createEgress(settings: EgressSettings, deps: EgressDeps): Egress {
  const resolved = resolveEgressSettings(settings);
  const pipeline = createPipeline(resolved, deps);
  const door = createFetch(pipeline, resolved);
  let proxies: Promise<Proxies> | undefined;
  let isClosed = false;
  /** A quarter of this package's code, and few who start it need it. */
  async function loadProxies(): Promise<Proxies> {
    const { createProxies } = await import("./proxy/create-proxies.ts");
    return createProxies(pipeline, resolved, deps);
  }
  return {
    fetch: door.fetch,
    async openProxy(source) {
      if (isClosed) throw new EgressError("EGRESS_CLOSED", "Cannot open a proxy: the egress was closed");
      proxies ??= loadProxies();
      return (await proxies).open(source);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const opened = await proxies;
      await Promise.all([door[Symbol.asyncDispose](), opened?.[Symbol.asyncDispose]()]);
      pipeline.clear();
    },
  };
}
