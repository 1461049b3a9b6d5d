/** A metatool put together: composite tools saved, listed and run behind one gateway. */

import { createCompositeCache } from "../run/composite-cache.ts";
import { approveSavedTool } from "./approval.ts";
import { createCoreSource } from "./core-source.ts";
import type { Metatool, MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { createSavedListing } from "./saved-listing.ts";
import { createSavedRunner } from "./saved-runner.ts";
import { createSavedSource } from "./saved-source.ts";

/** Create the metatool over `deps.saved`. */
export function createMetatool(deps: MetatoolDeps, options: MetatoolOptions): Metatool {
  const cache = createCompositeCache();
  const listing = createSavedListing(deps);
  const runner = createSavedRunner(deps, options, cache);
  return {
    coreTools: createCoreSource(deps, options, cache, runner),
    savedTools: createSavedSource(listing, runner, {
      timeoutMs: options.execution.timeoutMs,
      since: deps.now(),
    }),
    refresh: listing.refresh,
    approve: (name) => approveSavedTool(deps, name),
    [Symbol.dispose]: () => listing[Symbol.dispose](),
  };
}
