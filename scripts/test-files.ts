/**
 * Runs several test files in one process, one after the other. The modules that
 * the files share are loaded and optimized once, which halves the CPU time of
 * `npm test`. Each file is a test named by its path, and its tests are
 * subtests. A file that leaves a resource open, such as a process, fails itself,
 * not its neighbours.
 */

import { relative } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { cpuWithChildrenMs } from "./test-cpu.ts";
import { graceMs, reportCpu, startFile } from "./test-guard.ts";
import { startWatchdog } from "./test-watchdog.ts";

/** Time in milliseconds for one file. The tests in it inherit the limit. */
const timeoutMs = 120_000;

/** The same for a file that starts processes, which a busy machine delays. */
const processTimeoutMs = 300_000;

/** The same where `npm run verify` runs all cases of a file. */
const allTimeoutMs = 900_000;

const pollMs = 5;

/** Registers `files` (absolute paths) as tests that `node:test` runs in this order. */
export function runTestFiles(files: readonly string[]): void {
  startWatchdog();
  // Their pipes stay open from the first use on, which must not count for the file that uses them first.
  void [process.stdin, process.stdout, process.stderr];
  for (const file of files) {
    test(relative(process.cwd(), file), { timeout: limitOf(file) }, async (context: TestContext) => {
      startFile(file);
      const before = countResources();
      const cpuBeforeMs = cpuWithChildrenMs();
      try {
        await import(pathToFileURL(file).href);
      } finally {
        // Hooks run in the order of their registration: the file closes what it opened for all of its tests before this.
        context.after(async () => {
          await waitUntilReleased(before);
          reportCpu(file, cpuWithChildrenMs() - cpuBeforeMs);
        });
      }
    });
  }
}

function limitOf(file: string): number {
  if (process.env["TOOLCRIB_TEST_ALL"] !== undefined) return allTimeoutMs;
  return file.endsWith(".process.test.ts") ? processTimeoutMs : timeoutMs;
}

/** Rejects when, after `graceMs`, more resources of a type are open than `before`. */
async function waitUntilReleased(before: ReadonlyMap<string, number>): Promise<void> {
  // What the last test opened counts from the next turn.
  await nextTurn();
  const deadline = performance.now() + graceMs;
  for (;;) {
    const left = [...countResources()].filter(([type, count]) => count > (before.get(type) ?? 0));
    if (left.length === 0) return;
    if (performance.now() > deadline) {
      const types = left.map(([type]) => type).join(", ");
      throw new Error(`The tests ended ${graceMs / 1000} s ago and something keeps their process: ${types}`);
    }
    await sleep(pollMs);
  }
}

/** Counts the resources that keep this process alive, by type. */
function countResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
