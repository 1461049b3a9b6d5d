/**
 * Releases memory to the system after the start. The start allocates many
 * short-lived objects, and V8 keeps the enlarged heap for minutes. One explicit
 * garbage collection takes some tens of milliseconds; it waits until the first
 * clients had time to list the tools, and until no call is in flight.
 */

import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Gateway } from "@toolcrib/gateway";

/** Time after the start in which the first clients connect and list the tools, in milliseconds. */
const firstListsMs = 1000;
/** Interval between checks for calls in flight, in milliseconds. */
const waitMs = 50;
/** Maximum number of checks. A gateway that stays busy needs its memory. */
const checksMaxCount = 100;

/**
 * Releases unused memory after `gateway` has started, and stores what was compiled: a gateway that is killed does not come
 * to do that at its end. Never rejects.
 */
export async function releaseMemory(gateway: Gateway): Promise<void> {
  await gateway.prepared();
  await delay(firstListsMs, undefined, { ref: false });
  for (let check = 0; check < checksMaxCount; check += 1) {
    if (gateway.callsInFlight() === 0) {
      flushCompileCache();
      releaseUnused();
      return;
    }
    await delay(waitMs, undefined, { ref: false });
  }
}

/**
 * Releases all unused objects, and the compiled form of functions: most of those that were used at the start are never called
 * again, and V8 compiles the others when they are: an idle gateway takes 4 MB less. Node advises against flags that change
 * while it runs; these three only choose what this one collection does, and are back before any other code runs.
 */
function releaseUnused(): void {
  // The collector is a global of contexts that are created while the first flag is set.
  const flags = ["expose-gc", "flush-baseline-code", "stress-flush-code"];
  for (const flag of flags) setFlagsFromString(`--${flag}`);
  try {
    const collect = runInNewContext("gc") as NodeJS.GCFunction;
    // Only this flavor also shrinks the space for new objects.
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
  } finally {
    for (const flag of flags) setFlagsFromString(`--no-${flag}`);
  }
}
