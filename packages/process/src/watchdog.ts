/**
 * A tiny process that outlives the gateway by a second or two. When the gateway
 * ends without notice (kill -9, out of memory, a crash), the watchdog ends every
 * process that its servers leave behind.
 *
 * It holds one end of a socket whose other end closes with the gateway. That
 * other end is closed on exec in every child, which leaves no gap: a server that
 * is being started at the moment of death keeps the socket open until its own
 * program, and with it the marker, is in place. The watchdog runs in a session
 * of its own, so neither Ctrl-C nor a signal to the group of the gateway reaches
 * it, and without a marker of a gateway, so that no other watchdog ends it.
 *
 * Never keeps the event loop of the gateway alive once it is ready.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { LimitMarker } from "./limit-marker.ts";
import { ProcessError } from "./process-error.ts";
import { startTicksOf } from "./process-table.ts";
import { spawnChild } from "./spawn-child.ts";
import { watchdogScript } from "./watchdog-script.ts";

const readyMaxMs = 10_000;
const closeMaxMs = 2_000;
/** Number of times that a killed watchdog is started again, as long as none of them lives for `calmMs`. */
const restartsMaxCount = 5;
/** Milliseconds without a kill after which earlier ones do not count any more. */
const calmMs = 60_000;
/** Number of attempts to start it each time, and the wait after the first failure, which doubles with each. */
const startsMaxCount = 5;
const startPauseMs = 100;

/** The markers of one gateway. */
export interface Watched {
  readonly instance: string;
  readonly limitMarker: LimitMarker | undefined;
}

/** The watchdog of one gateway. Nothing is started before `ready()`. */
export class Watchdog {
  readonly #watched: Watched;
  readonly #path: string;
  readonly #logger: Logger;
  readonly #now: () => number;
  /** Start time of the leader of each session to end with the gateway, by pid. */
  readonly #sessions = new Map<number, string>();
  /** The shell that runs or is being started. */
  #starting: Promise<WatchdogShell> | undefined;
  #current: WatchdogShell | undefined;
  #restartCount = 0;
  /** When the last one was killed. */
  #killedAt = Number.NEGATIVE_INFINITY;
  readonly #closing = new AbortController();

  /** @param path PATH in which the shell finds `sleep` and `ps`. */
  constructor(watched: Watched, path: string, deps: { readonly logger: Logger; readonly now: () => number }) {
    this.#watched = watched;
    this.#path = path;
    this.#logger = deps.logger;
    this.#now = deps.now;
  }

  /** Resolves when the watchdog runs; starts it if necessary. @throws {ProcessError} `PROCESS_WATCHDOG_FAILED` */
  async ready(): Promise<void> {
    if (this.#restartCount > restartsMaxCount && this.#isCalm) {
      this.#restartCount = 0;
      this.#starting = undefined;
    }
    this.#starting ??= this.#unlessFailed(this.#start());
    await this.#starting;
  }

  /** Adds the session that process `pid` started at `startedAt` to those that end with the gateway. */
  watch(pid: number, startedAt: string): void {
    this.#sessions.set(pid, startedAt);
    this.#current?.send(`+ ${pid} ${startedAt}\n`);
  }

  /** Removes the session of process `pid`, which has ended. */
  forget(pid: number): void {
    this.#sessions.delete(pid);
    this.#current?.send(`- ${pid}\n`);
  }

  /** Ends the watchdog, or lets it end the remaining processes if `isAllGone` is false. Safe to repeat. */
  async close(isAllGone: boolean): Promise<void> {
    this.#closing.abort();
    // There is nothing to close if the watchdog could not be started.
    const shell = await this.#starting?.catch(() => undefined);
    await shell?.close(isAllGone);
  }

  get #isCalm(): boolean {
    return this.#now() - this.#killedAt >= calmMs;
  }

  async #start(): Promise<WatchdogShell> {
    const shell = await startShell(this.#watched, this.#path);
    this.#current = shell;
    for (const [pid, startedAt] of this.#sessions) shell.send(`+ ${pid} ${startedAt}\n`);
    void shell.exited.then(() => this.#restart(shell.pid));
    return shell;
  }

  /** The caller of `ready` gets the error of a failed start; the next launch is another attempt. */
  #unlessFailed(starting: Promise<WatchdogShell>): Promise<WatchdogShell> {
    starting.catch(() => {
      this.#starting = undefined;
    });
    return starting;
  }

  #restart(pid: number): void {
    this.#current = undefined;
    this.#starting = undefined;
    if (this.#closing.signal.aborted) return;
    if (this.#isCalm) this.#restartCount = 0;
    this.#killedAt = this.#now();
    this.#restartCount += 1;
    const record = { pid, restartCount: this.#restartCount };
    if (this.#restartCount > restartsMaxCount) {
      this.#logger.error(record, "upstream.watchdog.given-up");
      this.#starting = Promise.reject(
        failure(`it was killed again and again; a launch tries again ${calmMs / 1000} s later`),
      );
      this.#starting.catch(() => {});
      return;
    }
    this.#logger.warn(record, "upstream.watchdog.restarted");
    this.#starting = this.#unlessFailed(this.#startAgain());
  }

  /** Servers run, and nothing would end them with the gateway: a start that fails is tried again before the next launch. */
  async #startAgain(): Promise<WatchdogShell> {
    const { signal } = this.#closing;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#start();
      } catch (error) {
        if (!signal.aborted) this.#logger.error({ err: error, attempt }, "upstream.watchdog.failed");
        if (signal.aborted || attempt === startsMaxCount) throw error;
      }
      await delay(startPauseMs * 2 ** (attempt - 1), undefined, { ref: false, signal });
    }
  }
}

/** The shell that runs the script of the watchdog. */
class WatchdogShell {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #control: Socket;

  constructor(child: ChildProcess, control: Socket, exited: Promise<unknown>) {
    this.pid = child.pid!;
    this.exited = exited;
    this.#child = child;
    this.#control = control;
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  send(line: string): void {
    if (this.#control.writable) this.#control.write(line);
  }

  async close(isAllGone: boolean): Promise<void> {
    if (this.#hasExited) return;
    this.#control.end(isAllGone ? "done\n" : "");
    if (!isAllGone) return;
    this.#child.ref();
    const abort = new AbortController();
    const timeout = delay(closeMaxMs, undefined, { signal: abort.signal }).catch(() => {});
    await Promise.race([this.exited, timeout]);
    abort.abort();
    if (!this.#hasExited) this.#child.kill("SIGKILL");
  }
}

async function startShell({ instance, limitMarker }: Watched, path: string): Promise<WatchdogShell> {
  const child = spawnShell(path, limitMarker);
  const control = child.stdio[3] as Socket;
  // The exit of the shell is awaited; a write that fails needs no other report.
  for (const stream of [child.stdin!, control]) stream.on("error", () => {});
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  child.stdin!.end(watchdogScript);
  control.write(`${instance} ${startTicksOf(process.pid) ?? 0} ${limitMarker?.prefix ?? "-"}\n`);
  await untilReady(child, exited);
  for (const handle of [child, control, child.stdin as Socket]) handle.unref();
  child.stdout!.destroy();
  return new WatchdogShell(child, control, exited);
}

function spawnShell(path: string, limitMarker: LimitMarker | undefined): ChildProcess {
  try {
    const request = {
      program: "/bin/sh",
      args: ["-s", "toolcrib-watchdog", String(process.pid)],
      env: { PATH: `${path}:/usr/bin:/bin`, LC_ALL: "C" },
      directory: "/",
    };
    const exempted = limitMarker?.exempt(request) ?? request;
    return spawnChild(exempted, { detached: true, stdio: ["pipe", "pipe", "ignore", "pipe"] });
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
