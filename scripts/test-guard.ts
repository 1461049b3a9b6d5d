/**
 * Loaded into every test file by `npm test`. It fails a file
 *
 * - that a resource keeps alive after its tests (a socket, a child process, a timer),
 *   and reports the resource, so that the run does not hang;
 * - that starts a process although its name does not end in `.process.test.ts`,
 *   so that `npm test -- --fast` stays free of processes.
 */

import childProcess from "node:child_process";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { relative } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Time in milliseconds for disposed resources to end. Tests of the guard itself shorten it. */
export const graceMs = Number(process.env["TOOLCRIB_TEST_GRACE_MS"] ?? 30_000);
let testFile = process.argv[1] ?? "";

/** Starts the line of standard error that names a file. */
export const startMark = "@test-file ";

/** Starts the line of standard error that states the CPU time of a file. */
export const cpuMark = "@test-cpu ";

// The process that runs the files loads this file too.
if (process.env["NODE_TEST_CONTEXT"]?.startsWith("child")) {
  // A thread of a test ends with its process, and starts sooner without `node:test`.
  if (isMainThread) endWhenKeptAlive((await import("node:test")).after);
  if (testFile.endsWith(".test.ts") && !testFile.endsWith(".process.test.ts")) refuseProcesses();
}

/**
 * States that the tests of `file` start now, where several files share a process.
 *
 * Writes the name to standard error, synchronously: when the process crashes,
 * the report reads it there and names the file.
 */
export function startFile(file: string): void {
  testFile = file;
  writeSync(2, `${startMark}${relative(process.cwd(), file)}\n`);
}

/** States the CPU time of `file` and of the processes that it started. */
export function reportCpu(file: string, cpuMs: number): void {
  writeSync(2, `${cpuMark}${Math.round(cpuMs)} ${relative(process.cwd(), file)}\n`);
}

function endWhenKeptAlive(after: (run: () => void) => void): void {
  after(() => {
    const timer = setTimeout(() => {
      const resources = [...new Set(process.getActiveResourcesInfo())].join(", ");
      console.error(
        `The tests ended ${graceMs / 1000} s ago and something keeps their process: ${resources}`,
      );
      process.exit(1);
    }, graceMs);
    timer.unref();
  });
}

function refuseProcesses(): void {
  const functions = childProcess as unknown as { [name: string]: (...values: unknown[]) => unknown };
  for (const name of ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"]) {
    functions[name] = () => {
      const file = relative(process.cwd(), testFile);
      throw new Error(
        `${file} calls ${name}(); a test file that starts processes is named *.process.test.ts`,
      );
    };
  }
  syncBuiltinESMExports();
}
