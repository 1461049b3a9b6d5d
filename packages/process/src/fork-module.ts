/**
 * Starts a module of this program in a Node process of its own, connected by an
 * IPC channel and without standard streams. The channel closes with this
 * process, and the module must end itself then; there is no watchdog for it.
 */

import type { ChildProcess } from "node:child_process";
import type { Env } from "./child-env.ts";
import { type SpawnRequest, type SpawnSettings, spawnChild } from "./spawn-child.ts";

/** The module to start. */
export interface ModuleStart {
  /** Absolute path of the module. */
  readonly entryPath: string;
  /** Arguments for Node itself. */
  readonly nodeArgs: readonly string[];
  /** The whole environment of the child; nothing is added except the descriptor of the channel. */
  readonly env: Env;
}

/** Returns the request that starts a module, for a sandbox to contain. */
export function moduleRequest({ entryPath, nodeArgs, env }: ModuleStart): SpawnRequest {
  return { program: process.execPath, args: [...nodeArgs, entryPath], env };
}

/**
 * Starts a module by its request, or by what a sandbox made of it. A start that fails emits `error` on the returned
 * process.
 */
export function forkRequest(request: SpawnRequest, { wrap }: SpawnSettings = {}): ChildProcess {
  return spawnChild(wrap === undefined ? request : wrap(request), {
    serialization: "json",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
