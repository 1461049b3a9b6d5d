/** Creates a metatool: composite tools that are saved, listed and run behind one gateway. */

import { CompositeCache } from "../run/composite-cache.ts";
import { approveSavedTool } from "./approval.ts";
import { FileApprovalStore } from "./approval-store.ts";
import { CoreSource } from "./core-source.ts";
import type { Metatool, MetatoolContext, MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { SavedListing } from "./saved-listing.ts";
import { SavedRunner } from "./saved-runner.ts";
import { createSavedSource } from "./saved-source.ts";

/** Creates the metatool over `deps.saved`. */
export function createMetatool(deps: MetatoolDeps, options: MetatoolOptions): Metatool {
  const context: MetatoolContext = { ...deps, approvals: new FileApprovalStore(deps.saved) };
  const cache = new CompositeCache();
  const listing = new SavedListing(context);
  const runner = new SavedRunner(context, options, cache);
  return {
    coreTools: new CoreSource(context, options, cache, runner),
    savedTools: createSavedSource(listing, runner, {
      timeoutMs: options.execution.timeoutMs,
      since: deps.now(),
    }),
    refresh: () => listing.refresh(),
    approve: (name) => approveSavedTool(context, name),
    [Symbol.dispose]: () => listing[Symbol.dispose](),
  };
}
