/**
 * Starts a module of this program in a Node process of its own, connected by an
 * IPC channel and without standard streams. The channel closes with this
 * process, and the module must end itself then; there is no watchdog for it.
 */

import type { ChildProcess } from "node:child_process";
import type { Env } from "./child-env.ts";
import { type SpawnSettings, spawnChild } from "./spawn-child.ts";

/** The module to start. */
export interface ForkRequest {
  /** Absolute path of the module. */
  readonly entryPath: string;
  /** Arguments for Node itself. */
  readonly nodeArgs: readonly string[];
  /** The whole environment of the child; nothing is added except the descriptor of the channel. */
  readonly env: Env;
}

/** Starts `entryPath`. A start that fails emits `error` on the returned process. */
export function forkModule(
  { entryPath, nodeArgs, env }: ForkRequest,
  { wrap }: SpawnSettings = {},
): ChildProcess {
  const request = { program: process.execPath, args: [...nodeArgs, entryPath], env };
  return spawnChild(wrap === undefined ? request : wrap(request), {
    serialization: "json",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
