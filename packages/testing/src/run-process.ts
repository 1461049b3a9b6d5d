/**
 * Runs programs in tests: to their end (`runProcess`), or as a server that
 * prints its URL (`startServerProcess`). Each program runs in a process group of
 * its own, so that the processes that it starts can be ended with it.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { isProcessAlive } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

/** Options of `runProcess` and `startServerProcess`. */
export interface RunOptions {
  /** Variables in addition to the environment of this process; undefined removes a variable. @default none */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Working directory. @default that of this process */
  readonly cwd?: string;
  /** Milliseconds after which the program is killed. @default 120000 */
  readonly timeoutMs?: number;
}

/** The exit and the output of a program. */
export interface ProcessOutcome {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program to its end.
 *
 * @param options.stdin the complete standard input. @default nothing
 * @throws {AssertionError} with its output if it does not end in time; the program is killed then.
 */
export async function runProcess(
  command: string,
  args: readonly string[],
  options: RunOptions & { readonly stdin?: string } = {},
): Promise<ProcessOutcome> {
  const timeoutMs = options.timeoutMs ?? 120_000;
  const program = start(command, args, options);
  program.child.stdin?.on("error", () => {
    // A program can end before it has read everything; the exit code shows whether it failed.
  });
  program.child.stdin?.end(options.stdin ?? "");
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(program.child, "SIGKILL");
    // A grandchild in another group can hold the pipes open; they need not be read to the end.
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();
  }, timeoutMs);
  try {
    const [code, signal] = (await once(program.child, "close")) as [number | null, NodeJS.Signals | null];
    if (isLate)
      assert.fail(`${describe(command, args)} did not end within ${timeoutMs} ms\n${program.output()}`);
    return { code, signal, stdout: program.stdout(), stderr: program.stderr() };
  } finally {
    clearTimeout(timer);
  }
}

/** A server in a process of its own; disposing it ends its process group. */
export interface ServerProcess extends AsyncDisposable {
  /** The first URL it printed on stdout. */
  readonly url: string;
  readonly pid: number;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Sends SIGTERM; resolves after the exit and the rest of the output. @throws {AssertionError} if that takes more than a minute. */
  stop(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/**
 * Starts a server, and resolves when it has printed its URL on stdout.
 *
 * @param options.urlPattern matches the URL in a line. @default an http URL
 * @param options.timeoutMs milliseconds until the URL is printed. @default 120000
 * @throws {AssertionError} with its output if it ends before that, or takes too long.
 */
export async function startServerProcess(
  command: string,
  args: readonly string[],
  options: RunOptions & { readonly urlPattern?: RegExp } = {},
): Promise<ServerProcess> {
  const program = start(command, args, options);
  const { child } = program;
  const pattern = options.urlPattern ?? /https?:\/\/[^\s"'<>]+/;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const dispose = async () => {
    if (!hasEnded()) {
      const exited = once(child, "exit");
      const timer = setTimeout(() => killGroup(child, "SIGKILL"), 5000);
      killGroup(child, "SIGTERM");
      await exited;
      clearTimeout(timer);
    }
    killGroup(child, "SIGKILL");
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  try {
    const url = await waitUntil(
      async () => {
        if (hasEnded()) {
          await program.read();
          assert.fail(`${describe(command, args)} ended before it printed a URL\n${program.output()}`);
        }
        const lines = program.stdout();
        return pattern.exec(lines.slice(0, lines.lastIndexOf("\n") + 1))?.[0];
      },
      { timeoutMs: options.timeoutMs ?? 120_000, what: `${describe(command, args)} prints a URL` },
    );
    return {
      url,
      pid: child.pid ?? 0,
      stdout: program.stdout,
      stderr: program.stderr,
      async stop() {
        if (!hasEnded()) child.kill("SIGTERM");
        await waitUntil(hasEnded, {
          what: `${describe(command, args)} ends after SIGTERM`,
        });
        await program.read();
        return { code: child.exitCode, signal: child.signalCode };
      },
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Milliseconds for reading the rest of the output after the exit. */
const readMaxMs = 5000;

function start(command: string, args: readonly string[], options: RunOptions) {
  const child = spawn(command, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: "pipe",
    detached: true,
  });
  const written = { stdout: "", stderr: "" };
  // Without a listener, a program that cannot be started ends this process.
  child.on("error", (error) => {
    written.stderr += error.message;
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.stderr += text;
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    child,
    /** Resolves after the exit and the rest of the output. A grandchild that holds the pipes open does not delay it. */
    read: () => Promise.race([closed, delay(readMaxMs, undefined, { ref: false })]),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    output: () => `stdout: ${written.stdout}\nstderr: ${written.stderr}`,
  };
}

/** Sends a signal to the process group of a program. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    // The whole group has ended.
    if (isProcessAlive(child.pid)) throw error;
  }
}

function describe(command: string, args: readonly string[]): string {
  return [command, ...args].join(" ");
}
