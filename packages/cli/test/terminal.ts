/** Runs the command on a real terminal: a pseudo terminal of `script`, with keys, a size, and the frames of live views. */

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readProcessTable } from "@toolcrib/process";
import { type ProcessOutcome, runProcess, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, type RunSetting } from "./transcript.ts";

const script = "/usr/bin/script";
/** `script` takes the shell of the variable: what a test sees must not depend on who starts it. */
const shell = { SHELL: "/bin/sh", TERM: "xterm" };

/** Why there is no terminal for tests; `false` where there is one. */
export const skipWithoutTerminal =
  process.platform === "linux" && existsSync(script) ? false : "needs script of util-linux";

/** Returns the line of a shell that runs the command. */
export function shellLine(args: readonly string[]): string {
  return [process.execPath, ...commandLine, ...args]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ");
}

/** Runs a command with a terminal as its standard streams, and returns what it printed there. */
export async function onTerminal(
  args: readonly string[],
  { directory, env, stdin = "n\n" }: RunSetting,
): Promise<string> {
  const { stdout } = await runProcess(script, ["-qec", shellLine(args), "/dev/null"], {
    cwd: directory,
    stdin,
    env: { ...cleanEnvironment(directory), ...shell, ...env },
  });
  return stdout;
}

/** Runs a script of a shell on a terminal, and answers each question of it with yes. @returns what the terminal shows */
export async function runAnswering(
  text: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<ProcessOutcome> {
  const child = spawn(script, ["-qec", text, "/dev/null"], {
    cwd,
    env: { ...process.env, ...env, ...shell },
  });
  let stdout = "";
  let answeredTo = 0;
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    stdout += part;
    if (!/\[(?:y\/N|Y\/n)\] $|\[N\]o: $/.test(stdout.slice(answeredTo))) return;
    answeredTo = stdout.length;
    child.stdin.write("y\n");
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  assert.equal(signal, null, `it did not end\n${stdout}`);
  return { code, signal, stdout: stdout.replaceAll("\r", ""), stderr: "" };
}

/** Longest wait for programs that were hung up, in milliseconds; those that are left are killed then. */
const hungUpMaxMs = 5000;

/** A line of a shell that runs on a terminal. Disposing ends it with everything that it started there. */
export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  #text = "";

  /** @param line a line of the shell, such as that of `shellLine` */
  constructor(line: string, { directory, env }: RunSetting) {
    this.#child = spawn(script, ["-qefc", line, "/dev/null"], {
      cwd: directory,
      env: { ...process.env, ...cleanEnvironment(directory), ...shell, ...env },
    });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
    });
    // Keys for a command that has ended are lost.
    this.#child.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  /** Everything that was printed. */
  get text(): string {
    return this.#text;
  }

  /** The process of `script`, whose child is the shell. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether the line has ended. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until what was printed after the first `start` characters matches. @returns where the text ends then */
  async untilShown(pattern: RegExp, start = 0, timeoutMs = 60_000): Promise<number> {
    await waitUntil(() => this.hasEnded || pattern.test(this.#text.slice(start)), {
      timeoutMs,
      what: () => `${pattern} in ${JSON.stringify(this.#text.slice(start))}`,
    });
    assert.match(this.#text.slice(start), pattern);
    return this.#text.length;
  }

  press(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits for the end. @returns the exit code */
  async end(): Promise<number | null> {
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = this.hasEnded ? [] : await this.#programs();
    this.#child.stdin.destroy();
    // The end of `script` hangs the terminal up.
    this.#child.kill("SIGKILL");
    await this.#ended;
    const keys = new Set(left.map(keyOf));
    const running = async () =>
      keys.size === 0 ? [] : (await readProcessTable()).filter((one) => keys.has(keyOf(one)));
    const end = performance.now() + hungUpMaxMs;
    while ((await running()).length > 0 && performance.now() < end) await delay(20);
    for (const { pid } of await running()) process.kill(pid, "SIGKILL");
    await waitUntil(async () => (await running()).length === 0, { what: "the programs of the terminal end" });
  }

  /** The programs of the terminal. */
  async #programs(): Promise<readonly ProcessEntry[]> {
    const table = await readProcessTable();
    const sessions = new Set(
      table.filter(({ parentPid }) => parentPid === this.pid).map(({ sessionId }) => sessionId),
    );
    return table.filter(({ sessionId }) => sessions.has(sessionId));
  }
}

type ProcessEntry = Awaited<ReturnType<typeof readProcessTable>>[number];

function keyOf({ pid, startedAt }: ProcessEntry): string {
  return `${pid} ${startedAt}`;
}

/** Beginning and end of a frame of a live view. */
const frame = /\u001b\[\?2026h\u001b\[H([\s\S]*?)\u001b\[J\u001b\[\?2026l/g;

/** A command that runs on a terminal of a size. */
export class TerminalRun extends Terminal {
  /** @param size columns and rows of the terminal */
  constructor(args: readonly string[], { directory, env }: RunSetting, size: readonly [number, number]) {
    const [columns, rows] = size;
    // The name of the terminal is for `resize`; its settings after the command show whether it was restored.
    // A Ctrl-C reaches the shell too, and dash would end with it.
    const line = `trap : INT; tty; stty cols ${columns} rows ${rows}; ${shellLine(args)}; echo "code=$?"; stty -a`;
    super(line, { directory, env: { NO_COLOR: "1", ...env } });
  }

  /** The lines of the last frame, as they are seen. */
  get frame(): readonly string[] {
    const last = [...this.text.matchAll(frame)].at(-1)?.[1] ?? "";
    return last.split(/\r*\n/).map((line) => line.replaceAll("\u001b[K", ""));
  }

  /** Waits until the last frame matches. */
  async untilFrame(pattern: RegExp): Promise<readonly string[]> {
    await waitUntil(() => pattern.test(this.frame.join("\n")), { timeoutMs: 30_000 }).catch(() => {});
    assert.match(this.frame.join("\n"), pattern);
    return this.frame;
  }

  /** Sends a signal to the command, and not to its shell. */
  signal(name: NodeJS.Signals): void {
    const childOf = (pid: number | undefined) =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
    process.kill(childOf(childOf(this.pid)), name);
  }

  /** Changes the size of the terminal, which sends SIGWINCH to the command. */
  async resize(columns: number, rows: number): Promise<void> {
    const name = /\/dev\/pts\/\d+/.exec(this.text)?.[0];
    assert.ok(name !== undefined, this.text);
    await runProcess("stty", ["-F", name, "cols", String(columns), "rows", String(rows)]);
  }
}
