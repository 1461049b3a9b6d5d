/**
 * A tiny process beside the gateway that outlives it by a second or two. When
 * the gateway is gone without having said goodbye (kill -9, out of memory, a
 * crash), it ends every process that the gateway's servers left behind.
 *
 * It holds one end of a socket whose other end closes with the gateway. That
 * end is closed on exec in every child, which leaves no gap: a server that was
 * being started at the moment of death keeps the socket open until its own
 * program, and with it the marker, is in place. It runs in a session of its
 * own, so neither Ctrl-C nor a signal to the gateway's group reaches it, and
 * without a marker, so no other gateway's watchdog takes it for its own.
 *
 * Never keeps the gateway's event loop alive once it is ready.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { ProcessError } from "./process-error.ts";
import { startTicksOf } from "./process-table.ts";
import { spawnChild } from "./spawn-child.ts";
import { watchdogScript } from "./watchdog-script.ts";

/** The gateway's end of the watchdog. */
export interface Watchdog {
  /** Resolves once the watchdog runs; starts it the first time, and again when somebody killed it. */
  ready(): Promise<void>;
  /** The session that process `pid` began at `startedAt` is to be ended with the gateway. */
  watch(pid: number, startedAt: string): void;
  /** That session is gone. */
  forget(pid: number): void;
  /** Let it go: with nothing to do when all is gone, else to end what is left. Safe to repeat. */
  close(isAllGone: boolean): Promise<void>;
}

const readyMaxMs = 10_000;
const farewellMaxMs = 2_000;
/** Times that the watchdog is started anew after it was killed. */
const restartsMaxCount = 5;

/**
 * Prepare a watchdog; nothing is started before `ready()`.
 *
 * @param path PATH in which the shell finds `sleep` and `ps`.
 */
export function createWatchdog(instance: string, path: string, logger: Logger): Watchdog {
  const sessions = new Map<number, string>();
  let running: Promise<RunningWatchdog> | undefined;
  let current: RunningWatchdog | undefined;
  let restartCount = 0;
  let closed = false;

  function start(): Promise<RunningWatchdog> {
    const starting = startShell(instance, path).then((shell) => {
      current = shell;
      for (const [pid, startedAt] of sessions) shell.send(`+ ${pid} ${startedAt}\n`);
      shell.exited.then(() => restart(shell.pid));
      return shell;
    });
    // A failed start is told to whoever waits for it; the next launch may try again.
    starting.catch(() => {
      running = undefined;
    });
    return starting;
  }

  function restart(pid: number): void {
    current = undefined;
    running = undefined;
    if (closed) return;
    restartCount += 1;
    if (restartCount > restartsMaxCount) {
      logger.error({ pid, restartCount }, "upstream.watchdog.given-up");
      running = Promise.reject(failure("it was killed again and again"));
      running.catch(() => {});
      return;
    }
    logger.warn({ pid, restartCount }, "upstream.watchdog.restarted");
    running = start();
    running.catch((error: unknown) => logger.error({ err: error }, "upstream.watchdog.failed"));
  }

  return {
    async ready() {
      running ??= start();
      await running;
    },
    watch(pid, startedAt) {
      sessions.set(pid, startedAt);
      current?.send(`+ ${pid} ${startedAt}\n`);
    },
    forget(pid) {
      sessions.delete(pid);
      current?.send(`- ${pid}\n`);
    },
    async close(isAllGone) {
      closed = true;
      // A watchdog that never came up has nothing to be told.
      const shell = await running?.catch(() => undefined);
      await shell?.close(isAllGone);
    },
  };
}

interface RunningWatchdog {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  send(line: string): void;
  close(isAllGone: boolean): Promise<void>;
}

async function startShell(instance: string, path: string): Promise<RunningWatchdog> {
  const child = spawnShell(path);
  const control = child.stdio[3] as Socket;
  // The watchdog's end is what is waited for; what could not be written to it needs no other report.
  for (const stream of [child.stdin!, control]) stream.on("error", () => {});
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  child.stdin!.end(watchdogScript);
  control.write(`${instance} ${startTicksOf(process.pid) ?? 0}\n`);
  await untilReady(child, exited);
  for (const handle of [child, control, child.stdin as Socket]) handle.unref();
  child.stdout!.destroy();
  return {
    pid: child.pid!,
    exited,
    send(line) {
      if (control.writable) control.write(line);
    },
    async close(isAllGone) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      control.end(isAllGone ? "done\n" : "");
      if (!isAllGone) return;
      child.ref();
      const abort = new AbortController();
      await Promise.race([exited, delay(farewellMaxMs, undefined, { signal: abort.signal }).catch(() => {})]);
      abort.abort();
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    },
  };
}

function spawnShell(path: string): ChildProcess {
  try {
    const request = {
      program: "/bin/sh",
      args: ["-s", "toolcrib-watchdog", String(process.pid)],
      env: { PATH: `${path}:/usr/bin:/bin`, LC_ALL: "C" },
      directory: "/",
    };
    return spawnChild(request, { detached: true, stdio: ["pipe", "pipe", "ignore", "pipe"] });
  } catch (error) {
    throw failure(error);
  }
}

async function untilReady(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const abort = new AbortController();
  const problem = await Promise.race([
    once(child.stdout!, "data", { signal: abort.signal }).then(() => undefined),
    exited.then((reason) => (reason instanceof Error ? reason : `its shell ended with code ${reason}`)),
    delay(readyMaxMs, "its shell is not ready in time", { signal: abort.signal }),
  ]).finally(() => abort.abort());
  if (problem === undefined) return;
  child.kill("SIGKILL");
  throw failure(problem);
}

function failure(reason: unknown): ProcessError {
  return new ProcessError(
    "PROCESS_WATCHDOG_FAILED",
    `Cannot start the watchdog that ends all servers when the gateway dies: ${messageOf(reason)}`,
    {
      hint: "it needs /bin/sh and sleep; in a container without a shell, run the gateway as process 1",
      cause: reason instanceof Error ? reason : undefined,
    },
  );
}
