/** Starts `child-writer.ts` as a process and reads its output. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { waitUntil } from "@toolcrib/testing";

/** A running child. */
export interface ChildWriter {
  readonly process: ChildProcess;
  /** The lines printed so far. */
  lines(): readonly string[];
  /** Resolves when `condition` holds for the lines; rejects when the child ends before. */
  until(condition: (lines: readonly string[]) => boolean): Promise<void>;
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a child that writes to `home`; `shell` puts it behind a shell command such as `ulimit`. */
export function startChildWriter(
  t: TestContext,
  childArguments: readonly string[],
  shell?: string,
): ChildWriter {
  const script = fileURLToPath(new URL("./child-writer.ts", import.meta.url));
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const command = [process.execPath, ...conditions, script, ...childArguments];
  // A file instead of a pipe: its content survives however the child ends.
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-child-"));
  const outputPath = join(directory, "output");
  const output = openSync(outputPath, "w");
  const [program = "", ...rest] =
    shell === undefined ? command : ["/bin/sh", "-c", `${shell}; exec "$@"`, "sh", ...command];
  const child = spawn(program, rest, { stdio: ["ignore", output, "inherit"] });
  closeSync(output);
  let end: number | NodeJS.Signals | undefined;
  const ended = once(child, "exit").then(([code, signal]) => {
    end = (code ?? signal) as number | NodeJS.Signals;
    return end;
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(directory, { recursive: true });
  });
  const lines = () => readFileSync(outputPath, "utf8").split("\n").slice(0, -1);
  return {
    process: child,
    lines,
    ended,
    async until(condition) {
      await waitUntil(
        () => {
          if (condition(lines())) return true;
          if (end === undefined) return false;
          throw new Error(`The child ended with ${end}: ${lines().slice(-3).join(" / ")}`);
        },
        { timeoutMs: 120_000, intervalMs: 5, what: "the child has printed the expected lines" },
      );
    },
  };
}
