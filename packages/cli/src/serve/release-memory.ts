/**
 * Gives memory back to the system once everything has started. Starting leaves
 * garbage, and V8 makes room for as much again; without a push it keeps that
 * room for minutes. The push takes some tens of milliseconds, once, and waits
 * until no call is in flight.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Gateway } from "@toolcrib/gateway";

/** Between two looks at whether calls are in flight. */
const waitMs = 50;
/** A gateway that is busy from the start has use for its memory. */
const looksMaxCount = 100;

/** Give back, when `gateway` has started, what it does not need any more. Never rejects; does nothing unless Node runs with `--expose-gc`. */
export async function giveBackMemory(gateway: Gateway): Promise<void> {
  const { gc } = globalThis;
  if (gc === undefined) return;
  await gateway.prepared();
  for (let look = 0; look < looksMaxCount; look += 1) {
    if (gateway.status().callsInFlight === 0) {
      // Only this flavour lets go of the room for new objects, too.
      gc({ type: "major", execution: "sync", flavor: "last-resort" });
      return;
    }
    await delay(waitMs, undefined, { ref: false });
  }
}
