/**
 * Starts one child process: the only place of the repository that does so with
 * a program that its caller names. Nothing passes through a shell, and the
 * child gets exactly the environment of the request.
 */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Env } from "./child-env.ts";

/** One program to start, as the operating system gets it. */
export interface SpawnRequest {
  /** Absolute path of the program, or a name that the system looks up in the PATH of `env`. */
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is added to it. */
  readonly env: Env;
  /** Working directory, absolute. @default that of this process */
  readonly directory?: string;
  /**
   * Open file descriptors of this process that the child gets as 3, 4 and so on. The child shares their offsets, so
   * each start needs its own; the caller closes them. @default none
   */
  readonly descriptors?: readonly number[];
}

/**
 * Rewrites a request immediately before its start, so that the program runs
 * inside a sandbox: the sandbox's own program with the original one among its
 * arguments, another environment, another directory.
 *
 * It is synchronous, because a launch may not pause between its last check and
 * its start. A sandbox prepares what it needs (profiles, namespaces) before it
 * hands over its `wrap`. An error that it throws fails the launch as it is.
 */
export type SpawnWrap = (request: SpawnRequest) => SpawnRequest;

/** Options for the ways to start a process. */
export interface SpawnSettings {
  /** Wraps the program in a sandbox. @default the request is used unchanged */
  readonly wrap?: SpawnWrap;
}

/** Options of Node for a child. */
export interface ChildOptions extends Pick<SpawnOptions, "detached" | "serialization" | "windowsHide"> {
  /** The three standard streams, then pipes or a channel that follow the descriptors of the request. */
  readonly stdio: readonly ("pipe" | "inherit" | "ignore" | "ipc")[];
}

/** Spawns `request` as it is. @throws what `spawn` of `node:child_process` throws */
export function spawnChild(
  { program, args, env, directory, descriptors = [] }: SpawnRequest,
  { stdio, ...options }: ChildOptions,
): ChildProcess {
  const streams = [...stdio.slice(0, 3), ...descriptors, ...stdio.slice(3)];
  return spawn(program, args, { ...options, stdio: streams, cwd: directory, env: { ...env }, shell: false });
}
