/**
 * Starts a program that shares the terminal of this process: its standard
 * streams are inherited, and it stays in the same session and group. Its caller
 * passes signals on and ends it; there is no watchdog for it.
 */

import type { ChildProcess } from "node:child_process";
import { type SpawnRequest, type SpawnSettings, spawnChild } from "./spawn-child.ts";
import { type TakeListener, takeListenerOf } from "./take-listener.ts";

/** Options of a program in the foreground. */
export interface ForegroundSettings extends SpawnSettings {
  /** Takes the listeners that the program sends over an IPC channel before it begins. @default no channel */
  readonly takeListener?: TakeListener | undefined;
}

/** Starts `request`. A start that fails emits `error` on the returned process. */
export function startForeground(
  request: SpawnRequest,
  { wrap, takeListener }: ForegroundSettings = {},
): ChildProcess {
  const child = spawnChild(wrap === undefined ? request : wrap(request), {
    stdio: ["inherit", "inherit", "inherit", ...(takeListener === undefined ? [] : (["ipc"] as const))],
  });
  if (takeListener !== undefined) takeListenerOf(child, takeListener);
  return child;
}
