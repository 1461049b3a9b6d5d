/**
 * Releases memory to the system after the start. The start allocates many
 * short-lived objects, and V8 keeps the enlarged heap for minutes. One explicit
 * garbage collection takes some tens of milliseconds; it waits until no call is in
 * flight.
 */

import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Gateway } from "@toolcrib/gateway";

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
  for (let check = 0; check < checksMaxCount; check += 1) {
    if (gateway.status().callsInFlight === 0) {
      flushCompileCache();
      // Only this flavor also shrinks the space for new objects.
      collector()({ type: "major", execution: "sync", flavor: "last-resort" });
      return;
    }
    await delay(waitMs, undefined, { ref: false });
  }
}

/** V8's collector, which only contexts that are created after this flag was set contain. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  return gc;
}
