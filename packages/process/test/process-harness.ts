/** Common parts of the tests of processes: a launcher, its log records, and a check for remaining processes. */

import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  createProcessLauncher,
  type LaunchedProcess,
  type LaunchSpec,
  type ProcessLauncher,
  readProcessTable,
} from "@toolcrib/process";

/** Options of the launcher. */
export type LauncherOptions = NonNullable<Parameters<typeof createProcessLauncher>[1]>;

export const never: AbortSignal = new AbortController().signal;

export interface TestLauncher extends AsyncDisposable {
  readonly launcher: ProcessLauncher;
  readonly records: { readonly event: string; readonly [field: string]: unknown }[];
  launch(command: string, args?: readonly string[], spec?: Partial<LaunchSpec>): Promise<LaunchedProcess>;
}

export function createTestLauncher(
  options: LauncherOptions = {},
  env: { readonly [name: string]: string | undefined } = process.env,
  onRecord: (event: string) => void = () => {},
  now: () => number = Date.now,
): TestLauncher {
  const records: TestLauncher["records"] = [];
  const record = (fields: object, event: string): void => {
    records.push({ ...fields, event });
    onRecord(event);
  };
  const logger = { debug: record, info: record, warn: record, error: record };
  const launcher = createProcessLauncher({ env, now, logger, randomBytes }, options);
  return {
    launcher,
    records,
    launch: (command, args = [], spec = {}) =>
      launcher.launch({ command, args, env: {}, cwd: "/", label: "test", ...spec }, { signal: never }),
    [Symbol.asyncDispose]: () => launcher[Symbol.asyncDispose](),
  };
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
}

/** Fixtures with descendants. Only the resource limit, which `prlimit` sets, identifies those of `escaped.sh`. */
export const treeScripts = existsSync("/usr/bin/prlimit")
  ? (["tree.sh", "stubborn.sh", "escaped.sh"] as const)
  : (["tree.sh", "stubborn.sh"] as const);

/** Returns the first line of `stream`. */
export async function readLine(stream: Readable): Promise<string> {
  const [line] = (await once(createInterface({ input: stream }), "line")) as [string];
  return line;
}

/** Reads `stream` to its end. */
export async function readAll(stream: Readable): Promise<string> {
  let text = "";
  for await (const bytes of stream) text += bytes;
  return text;
}

/** Returns a duration for `sleep` that no other test uses, so that its command line identifies the process. */
export function uniqueSleep(): string {
  return `300.${randomBytes(6).readUIntBE(0, 6)}`;
}

/** Returns the pids of all processes with the marker of `instance` or with `sleep` in their command line. */
export async function leftovers(instance: string, sleep: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readProcessTable()) {
    if (entry.instance === instance || (await commandOf(entry.pid)).includes(sleep)) found.push(entry.pid);
  }
  return found;
}

async function commandOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0").slice(0, -1);
}

/** Waits until `check` returns true; fails after a minute. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 1200; round += 1) {
    if (await check()) return;
    await delay(50);
  }
  throw new Error(`Gave up waiting until ${what}`);
}

/** Returns the pids of the watchdogs of gateway `pid`. */
export async function watchdogsOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readProcessTable()) {
    const command = (await commandOf(entry.pid)).join(" ");
    if (command === `/bin/sh -s toolcrib-watchdog ${pid}`) found.push(entry.pid);
  }
  return found;
}

/** A gateway in a process of its own, which leads a group of its own. */
export interface TestGateway extends AsyncDisposable {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly pid: number;
  readonly instance: string;
  /** The argument of `sleep` in the descendants of its servers. */
  readonly sleep: string;
  /** Servers that have started. */
  readonly serverCount: number;
  readonly exited: Promise<unknown>;
}

/** Starts `fixtures/gateway.ts`; resolves when it has launched `count` servers. */
export async function startGateway(script: string, mode: string, count: number): Promise<TestGateway> {
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const sleep = uniqueSleep();
  const child = spawn(
    process.execPath,
    [...conditions, fixture("gateway.ts"), fixture(script), sleep, mode, String(count)],
    { detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  const exited = once(child, "exit");
  let closed = false;
  child.once("close", () => {
    closed = true;
  });
  let stderr = "";
  child.stderr.on("data", (bytes) => {
    stderr += bytes;
  });
  let instance = "";
  let launched = false;
  let saidCount = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (instance === "") instance = line;
    else if (line.startsWith("launched ")) launched = true;
    else saidCount += 1;
  });
  await until("the gateway has launched its servers", () => {
    if (launched && saidCount >= count) return true;
    if (closed) throw new Error(`The gateway ended: ${stderr}`);
    return false;
  });
  return {
    child,
    pid: child.pid!,
    instance,
    sleep,
    get serverCount() {
      return saidCount;
    },
    exited,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await exited;
      // Processes remain only after a failed test.
      for (const pid of await leftovers(instance, sleep)) process.kill(pid, "SIGKILL");
    },
  };
}

/** Waits for the end of the gateway and its watchdog, then checks that no process remains. */
export async function assertNothingLeft(gateway: TestGateway): Promise<void> {
  await gateway.exited;
  await until("the watchdog has done its work", async () => (await watchdogsOf(gateway.pid)).length === 0);
  assert.deepEqual(await leftovers(gateway.instance, gateway.sleep), []);
}
