/**
 * The one way out, put together: one pipeline, and its two doors. Nothing is
 * opened before the first request or proxy.
 */

import { egressClosed } from "./codes.ts";
import { EgressError } from "./egress-error.ts";
import { resolveEgressSettings } from "./egress-settings.ts";
import type { Egress, EgressDeps, EgressSettings } from "./egress-types.ts";
import { createFetch } from "./fetch/create-fetch.ts";
import { createPipeline } from "./pipeline.ts";

/**
 * Create an egress.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createEgress(settings: EgressSettings, deps: EgressDeps): Egress {
  const resolved = resolveEgressSettings(settings);
  const pipeline = createPipeline(resolved, deps);
  const door = createFetch(pipeline, resolved);
  return {
    fetch: door.fetch,
    async openProxy() {
      throw new EgressError(egressClosed, "Cannot open a proxy: this door is not built yet");
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      pipeline.clear();
    },
  };
}
