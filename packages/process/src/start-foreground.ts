/**
 * Starts a program that shares the terminal of this process: its standard
 * streams are inherited, and it stays in the same session and group. Its caller
 * passes signals on and ends it; there is no watchdog for it.
 */

import type { ChildProcess } from "node:child_process";
import { type SpawnRequest, type SpawnSettings, spawnChild } from "./spawn-child.ts";

/** Starts `request`. A start that fails emits `error` on the returned process. */
export function startForeground(request: SpawnRequest, { wrap }: SpawnSettings = {}): ChildProcess {
  return spawnChild(wrap === undefined ? request : wrap(request), {
    stdio: ["inherit", "inherit", "inherit"],
  });
}
