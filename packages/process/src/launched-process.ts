/**
 * One launched process, from its start until all of its descendants have ended.
 *
 * Its end is reported once: after the process itself has ended, for any reason,
 * and after everything that it had started has ended too. Never reads standard
 * output and never writes standard input; both belong to the caller.
 */

import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { describeExit, mostInformativeLine, type ProcessExit } from "./process-exit.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { StderrLog, StderrSink } from "./stderr-log.ts";

/** A child process with three pipes. */
export type SpawnedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Dependencies of the supervision of one process. */
export interface SupervisionDeps {
  readonly tree: ProcessTree;
  readonly sink: StderrSink;
  readonly now: () => number;
  /** Called when all processes have ended, before `exited` resolves. */
  readonly onGone: (exit: ProcessExit) => Promise<void>;
}

export interface SupervisionOptions {
  readonly graceMs: number;
  readonly terminateGraceMs: number;
  readonly orphanGraceMs: number;
}

interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Time to read the rest of standard error, which is complete in the pipe after its last writer has ended. */
const stderrDrainMaxMs = 250;

/** Time in which the kernel ends a killed process; after it, `stop()` leaves the process to the watchdog. */
const killMaxMs = 5_000;

/** A launched process. Disposing it is `stop()`. */
export class LaunchedProcess implements AsyncDisposable {
  readonly pid: number;
  /** A write after the end of the process is dropped; `exited` reports the end. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: StderrLog;
  /** Resolves when the process itself has ended; its descendants can still run. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Resolves when the process and all of its descendants have ended. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  readonly #stderrPipe: Readable;
  readonly #deps: SupervisionDeps;
  readonly #options: SupervisionOptions;
  readonly #startedAt: number;
  readonly #stderrClosed: Promise<void>;
  #stopping: Promise<void> | undefined;

  /** @param child a child that was spawned in the same turn of the event loop. */
  constructor(child: SpawnedChild, deps: SupervisionDeps, options: SupervisionOptions) {
    const { stdin, stdout, stderr } = child;
    this.#deps = deps;
    this.#options = options;
    this.#startedAt = deps.now();
    this.pid = child.pid!;
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = deps.sink;
    this.#stderrPipe = stderr;
    // Without a listener, a write to a process that has just ended would end the gateway. `exited` reports the end.
    for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});
    stderr.on("data", (bytes: Uint8Array) => deps.sink.write(bytes));
    this.#stderrClosed = new Promise((resolve) => stderr.once("close", resolve));
    const ended = new Promise<ExitStatus>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    this.ended = ended;
    this.exited = this.#settle(ended);
  }

  /**
   * Ends the process as MCP requires: closes its standard input, sends SIGTERM after `graceMs`, finally SIGKILL;
   * then ends its descendants. Resolves as `exited` does, or 5 s after a SIGKILL without effect. Safe to repeat;
   * the grace of the first call counts.
   *
   * @param graceMs milliseconds for the process to end by itself. @default `graceMs` of the launcher
   */
  stop(graceMs = this.#options.graceMs): Promise<void> {
    this.#stopping ??= this.#shutDown(graceMs);
    return this.#stopping;
  }

  /**
   * Adds a line about the process to its standard error, for those who read its log.
   *
   * @returns the line without control characters and secrets.
   */
  note(text: string): string {
    return this.#deps.sink.note(text);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Waits for the end of the process, then ends its descendants. */
  async #settle(ended: Promise<ExitStatus>): Promise<ProcessExit> {
    const { tree, sink, now, onGone } = this.#deps;
    const { code, signal } = await ended;
    const ranMs = now() - this.#startedAt;
    const wasStopped = this.#stopping !== undefined;
    const { foundCount, leftover } = await tree.reap(this.#options.orphanGraceMs);
    // On a busy machine the time can be over before anything was read: one more turn reads the available bytes.
    if (!(await settlesWithin(this.#stderrClosed, stderrDrainMaxMs))) await nextTurn();
    this.#stderrPipe.destroy();
    this.stdin.destroy();
    sink.end();
    const facts = {
      code: code ?? undefined,
      signal: signal ?? undefined,
      ranMs,
      wasStopped,
      orphanCount: foundCount,
      leftover,
      lastStderr: mostInformativeLine(sink.tail(100)),
    };
    const exit = { ...facts, description: describeExit(facts) };
    await onGone(exit);
    return exit;
  }

  async #shutDown(graceMs: number): Promise<void> {
    const { tree } = this.#deps;
    // While a parent runs, its children are recognized by it.
    await tree.survey();
    this.stdin.end();
    if (!(await settlesWithin(this.ended, graceMs))) {
      await tree.terminate();
      if (!(await settlesWithin(this.ended, this.#options.terminateGraceMs))) {
        await tree.kill();
        if (!(await settlesWithin(this.ended, killMaxMs))) return;
      }
    }
    await this.exited;
    this.stdout.destroy();
  }
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
