/**
 * Child processes that do not outlive the benchmark. Each one leads its own
 * process group. Stopping it sends SIGTERM first, then kills every process that it
 * started, by pid and start time, including an upstream in another group.
 *
 * It never passes on the environment of the user: children get PATH, a home in
 * the temporary directory, and the variables of the contender.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, type ProcessEntry, readTree } from "./process-tree.ts";

const graceMs = 3000;
const outputKeptBytes = 8192;

/** A started child; disposing stops it and its descendants. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly process: ChildProcess;
  /** `performance.now()` just before it was started. */
  readonly startedAt: number;
  /** The end of its output on stdout (unless `stdio` is the protocol) and stderr. */
  output(): string;
  /** The reason of its exit, or `undefined` while it runs. */
  ended(): string | undefined;
}

/** A command and its environment. */
export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Used as HOME, as XDG directories and as the working directory. */
  readonly home: string;
  /** True: stdin and stdout belong to the caller. Default: stdin closed, stdout kept in `output()`. */
  readonly stdioIsProtocol?: boolean;
}

const running = new Set<Child>();

/** Starts a child that `stopAllChildren` stops. */
export function startChild(options: ChildOptions): Child {
  const { home } = options;
  const startedAt = performance.now();
  const child = spawn(options.command, options.args, {
    cwd: home,
    detached: true,
    stdio: [options.stdioIsProtocol === true ? "pipe" : "ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
      XDG_STATE_HOME: home,
    },
  });
  let output = "";
  let end: string | undefined;
  const keep = (chunk: string): void => {
    output = (output + chunk).slice(-outputKeptBytes);
  };
  child.stderr?.setEncoding("utf8").on("data", keep);
  if (options.stdioIsProtocol !== true) child.stdout?.setEncoding("utf8").on("data", keep);
  child.on("error", (error) => {
    end ??= `could not be started: ${error.message}`;
  });
  child.on("exit", (code, signal) => {
    end ??= `ended with ${signal ?? `code ${code}`}`;
  });
  const started: Child = {
    pid: child.pid ?? -1,
    process: child,
    startedAt,
    output: () => output,
    ended: () => end,
    [Symbol.asyncDispose]: async () => {
      await stop(child);
      running.delete(started);
    },
  };
  running.add(started);
  return started;
}

/** Stops all remaining children, at every kind of end of the benchmark. */
export async function stopAllChildren(): Promise<void> {
  await Promise.all([...running].map((child) => child[Symbol.asyncDispose]()));
}

/** Kills all remaining children immediately, for a second Ctrl-C and for the exit handler. */
export function killAllChildren(): void {
  for (const child of running) {
    for (const entry of readTree(child.pid)) kill(entry.pid, "SIGKILL");
    kill(-child.pid, "SIGKILL");
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const tree = readTree(child.pid);
  const groupAlive = (): boolean => kill(-child.pid!, 0) || tree.some((entry) => isAlive(entry));
  kill(child.pid, "SIGTERM");
  const deadline = Date.now() + graceMs;
  while (groupAlive() && Date.now() < deadline) await sleep(10);
  if (!groupAlive()) return;
  const late = [...tree, ...readTree(child.pid)].filter((entry: ProcessEntry) => isAlive(entry));
  for (const entry of late) kill(entry.pid, "SIGKILL");
  kill(-child.pid, "SIGKILL");
  while (groupAlive() && Date.now() < deadline + graceMs) await sleep(10);
}

/** Sends a signal; returns false if the process does not exist. A negative pid is a group, as in kill(2). */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (Math.abs(pid) <= 1) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
