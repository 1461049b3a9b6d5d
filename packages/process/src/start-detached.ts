/**
 * Starts a program that outlives this process: in a session of its own, without input, and with nobody who ends it.
 * Its output is a pipe that its caller reads for as long as it wants; the program must bear that nobody reads.
 */

import type { ChildProcess } from "node:child_process";
import { type SpawnRequest, spawnChild } from "./spawn-child.ts";

/** Starts `request`. This process does not wait for it. A start that fails emits `error` on the returned process. */
export function startDetached(request: SpawnRequest): ChildProcess {
  const child = spawnChild(request, {
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.unref();
  return child;
}
