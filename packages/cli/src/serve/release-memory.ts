/**
 * Releases memory to the system after the start, and after each time with calls. Both allocate many short-lived objects,
 * and V8 keeps the enlarged heap for minutes, or until the next calls. One explicit garbage collection takes some tens of
 * milliseconds; it waits until the first clients had time to list the tools, and until no call is in flight.
 */

import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Gateway } from "@toolcrib/gateway";

/** Time after the start in which the first clients connect and list the tools, in milliseconds. */
const firstListsMs = 1000;
/**
 * Time without a call after which a gateway is at rest, in milliseconds. The first thousands of calls after a collection cost
 * more, so it is longer than most pauses in which a model thinks.
 */
const quietMs = 20_000;
/** Growth since the last collection from which another one is worth its time, in bytes. */
const growthMinBytes = 8_000_000;
/** Interval between checks for calls in flight, in milliseconds. */
const waitMs = 50;
/** Maximum number of checks. A gateway that stays busy needs its memory. */
const checksMaxCount = 100;

/**
 * Releases unused memory after `gateway` has started, and whenever it is at rest after calls. After the start, it stores what
 * was compiled, too: a gateway that is killed does not come to do that at its end. Never rejects, and never ends.
 */
export async function releaseMemory(gateway: Gateway): Promise<void> {
  await gateway.prepared();
  await delay(firstListsMs, undefined, { ref: false });
  let leastBytes = 0;
  if (await isAtRest(gateway)) {
    flushCompileCache();
    releaseAfterStart();
    leastBytes = process.memoryUsage.rss();
  }
  for (;;) {
    await gateway.nextCall();
    await untilQuiet(gateway);
    if (process.memoryUsage.rss() - leastBytes < growthMinBytes || !(await isAtRest(gateway))) continue;
    releaseAfterCalls();
    leastBytes = process.memoryUsage.rss();
  }
}

/** Waits until no call is in flight. @returns false if there always is one */
async function isAtRest(gateway: Gateway): Promise<boolean> {
  for (let check = 0; check < checksMaxCount; check += 1) {
    if (gateway.callsInFlight() === 0) return true;
    await delay(waitMs, undefined, { ref: false });
  }
  return false;
}

/** Waits until no call has begun for some time. */
async function untilQuiet(gateway: Gateway): Promise<void> {
  let isQuiet = false;
  while (!isQuiet) {
    isQuiet = true;
    const called = gateway.nextCall().then(() => {
      isQuiet = false;
    });
    await Promise.race([called, delay(quietMs, undefined, { ref: false })]);
    // Between two checks, calls cost nothing.
    if (!isQuiet) await delay(quietMs, undefined, { ref: false });
  }
}

/**
 * Releases all unused objects, and the compiled form of functions: most of those that were used at the start are never called
 * again, and V8 compiles the others when they are: an idle gateway takes 4 MB less.
 */
function releaseAfterStart(): void {
  // Only this flavor also shrinks the space for new objects.
  collect({ flavor: "last-resort" }, ["flush-baseline-code", "stress-flush-code"]);
}

/** Releases all unused objects, and keeps the compiled form of functions: the next calls need it. */
function releaseAfterCalls(): void {
  collect({ flavor: "regular" }, []);
}

/**
 * Collects now. Node advises against flags that change while it runs; these only choose what this one collection does, and are
 * back before any other code runs.
 */
function collect({ flavor }: Pick<NodeJS.GCOptions, "flavor">, chosen: readonly string[]): void {
  // The collector is a global of contexts that are created while the first flag is set.
  const flags = ["expose-gc", ...chosen];
  for (const flag of flags) setFlagsFromString(`--${flag}`);
  try {
    const gc = runInNewContext("gc") as NodeJS.GCFunction;
    gc({ type: "major", execution: "sync", flavor });
  } finally {
    for (const flag of flags) setFlagsFromString(`--no-${flag}`);
  }
}
