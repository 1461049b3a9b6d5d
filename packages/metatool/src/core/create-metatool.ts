/** Creates a metatool: composite tools that are saved, listed and run behind one gateway. */

import { PackageRunner } from "../package/package-runner.ts";
import { CompositeCache } from "../run/composite-cache.ts";
import { CompositeMemory, totalBytesFor } from "../run/composite-memory.ts";
import { ProgramTurns } from "../run/program-turns.ts";
import { CoreSource } from "./core-source.ts";
import type { Metatool, MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { SavedListing } from "./saved-listing.ts";
import { SavedRunner } from "./saved-runner.ts";
import { createSavedSource } from "./saved-source.ts";

/** Creates the metatool over `deps.saved`. */
export function createMetatool(given: MetatoolDeps, options: MetatoolOptions): Metatool {
  const deps = {
    ...given,
    memory: new CompositeMemory(given, { totalBytes: totalBytesFor(options.execution.memoryBytes) }),
    turns: new ProgramTurns(given),
  };
  const cache = new CompositeCache();
  const listing = new SavedListing(deps);
  const runner = new SavedRunner(deps, options, cache);
  return {
    coreTools: new CoreSource(deps, options, cache, runner),
    savedTools: createSavedSource(listing, runner, deps.approvals, {
      timeoutMs: options.execution.timeoutMs,
      since: deps.now(),
    }),
    packages: new PackageRunner({ ...deps, cache }, options),
    refresh: () => listing.refresh(),
    [Symbol.dispose]: () => listing[Symbol.dispose](),
  };
}
