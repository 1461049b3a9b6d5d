/**
 * One running server, from spawn to the moment when nothing of it is left.
 *
 * The end is reported once: after the process itself ended, for whatever
 * reason, and after everything that it had started was ended too. Never reads
 * standard output and never writes standard input; both belong to the caller.
 */

import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { describeExit, mostTellingLine, type ProcessExit } from "./process-exit.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { StderrLog, StderrSink } from "./stderr-log.ts";

/** A launched server. Disposing it is `stop()`. */
export interface LaunchedProcess extends AsyncDisposable {
  readonly pid: number;
  /** A write after the server's end is dropped; the end is told by `exited`. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: StderrLog;
  /** The process itself has ended; what it started may still be there. Never rejects. */
  readonly ended: Promise<unknown>;
  /** The server is gone, and so is everything it started. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /**
   * End it as MCP asks: close its standard input, after `graceMs` SIGTERM, at
   * last SIGKILL; then end what it left behind. Resolves as `exited` does, or
   * 5 s after a SIGKILL without effect. Safe to repeat; the first call's grace holds.
   *
   * @param graceMs time to end by itself. @default `graceMs` of the launcher
   */
  stop(graceMs?: number): Promise<void>;
}

export type SpawnedChild = ChildProcessByStdio<Writable, Readable, Readable>;

export interface SupervisionDeps {
  readonly tree: ProcessTree;
  readonly sink: StderrSink;
  readonly now: () => number;
  /** Called when nothing of the server is left, before `exited` resolves. */
  readonly onGone: (exit: ProcessExit) => Promise<void>;
}

export interface SupervisionOptions {
  readonly graceMs: number;
  readonly terminateGraceMs: number;
  readonly orphanGraceMs: number;
}

/** What standard error still has to say after the last writer is gone is already in our hands; this bounds reading it. */
const stderrDrainMaxMs = 250;

/** How long the kernel may take to end a killed server before `stop()` leaves it to the watchdog. */
const killMaxMs = 5_000;

/** Watch over `child`, which was just spawned. */
export function superviseProcess(
  child: SpawnedChild,
  { tree, sink, now, onGone }: SupervisionDeps,
  options: SupervisionOptions,
): LaunchedProcess {
  const startedAt = now();
  let stopping: Promise<void> | undefined;

  // Without a listener, a write to a server that just ended would end the gateway. `exited` tells about it.
  child.stdin.on("error", () => {});
  child.stdout.on("error", () => {});
  child.stderr.on("error", () => {});
  child.stderr.on("data", (bytes: Uint8Array) => sink.write(bytes));
  const stderrClosed = new Promise<void>((resolve) => child.stderr.once("close", resolve));

  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });

  async function settle(): Promise<ProcessExit> {
    const { code, signal } = await ended;
    const ranMs = now() - startedAt;
    const wasStopped = stopping !== undefined;
    const { foundCount, leftover } = await tree.reap(options.orphanGraceMs);
    // On a machine that is busy the time may be over before anything was read: one turn reads what is there.
    if (!(await settlesWithin(stderrClosed, stderrDrainMaxMs))) await nextTurn();
    child.stderr.destroy();
    child.stdin.destroy();
    sink.end();
    const facts = {
      code: code ?? undefined,
      signal: signal ?? undefined,
      ranMs,
      wasStopped,
      orphanCount: foundCount,
      leftover,
      lastStderr: mostTellingLine(sink.log.tail(100)),
    };
    const exit = { ...facts, description: describeExit(facts) };
    await onGone(exit);
    return exit;
  }
  const exited = settle();

  async function shutDown(graceMs: number): Promise<void> {
    // While parents live, their children can still be told by them.
    await tree.survey();
    child.stdin.end();
    if (!(await settlesWithin(ended, graceMs))) {
      await tree.terminate();
      if (!(await settlesWithin(ended, options.terminateGraceMs))) {
        await tree.kill();
        if (!(await settlesWithin(ended, killMaxMs))) return;
      }
    }
    await exited;
    child.stdout.destroy();
  }

  function stop(graceMs = options.graceMs): Promise<void> {
    stopping ??= shutDown(graceMs);
    return stopping;
  }

  return {
    pid: child.pid!,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: sink.log,
    ended,
    exited,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      promise.then(() => true),
      delay(ms, false, { signal: timer.signal }).catch(() => false),
    ]);
  } finally {
    timer.abort();
  }
}
