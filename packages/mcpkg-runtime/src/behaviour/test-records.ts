/**
 * Keeps the results of tests of installed packages: in the history of the home, and summed up in
 * `<toolId>.metadata.json` beside the folder of the package (MCPKG document, section 12), which must
 * contain nothing but the files of its archive.
 */

import { dirname, join } from "node:path";
import { replaceFile } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import type { TestHistory, TestRun } from "@toolcrib/store";
import type { TestResults } from "../tests/run-package-tests.ts";

/** Dependencies for keeping results. */
export interface TestRecordDeps {
  readonly history: TestHistory;
  /** Unpredictable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A run, and what started it. */
export interface FinishedRun {
  readonly results: TestResults;
  /** RFC 3339 time of its start. */
  readonly at: string;
  readonly by: TestRun["by"];
  /** Id of the implementation that it was run on. @default the call chose it */
  readonly implementation?: string | undefined;
}

/** Adds a run to the history and writes the metadata of the package. @throws {StoreError}; {FilesError} */
export async function recordTestRun(
  { history, randomBytes }: TestRecordDeps,
  installed: Pick<InstalledPackage, "toolId" | "version" | "digest" | "folder">,
  { results, at, by, implementation }: FinishedRun,
): Promise<void> {
  const { toolId, version, digest, folder } = installed;
  await history.add({
    toolId,
    version,
    digest,
    at,
    by,
    ...(implementation === undefined ? {} : { implementation }),
    durationMs: results.durationMs,
    tests: results.results.map(({ path, outcome, latencyMs, shape, failures }) => ({
      path,
      outcome,
      latencyMs,
      ...(shape === undefined ? {} : { shape }),
      failures,
    })),
  });
  const summary = testSummaryOf(await history.list(toolId), digest);
  const metadata = { toolId, version, digest, ...summary };
  await replaceFile(
    { randomBytes },
    join(dirname(folder), `${toolId}.metadata.json`),
    `${JSON.stringify(metadata, undefined, 2)}\n`,
    { mode: 0o644 },
  );
}

/**
 * Sums up the runs of one archive: the latest one, and the rates and latencies of all that are kept.
 * Undefined without a run.
 */
export function testSummaryOf(runs: readonly TestRun[], digest: string): JsonObject | undefined {
  const own = runs.filter((run) => run.digest === digest);
  const last = own.at(-1);
  if (last === undefined) return undefined;
  const tests = own.flatMap((run) => run.tests);
  const called = tests.filter(({ latencyMs }) => latencyMs > 0);
  const latencies = called.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other);
  const rate = (count: number, all: number) => (all === 0 ? 0 : Math.round((count / all) * 10_000) / 10_000);
  const passed = (all: TestRun["tests"]) => all.filter(({ outcome }) => outcome === "passed").length;
  return {
    at: last.at,
    passed: passed(last.tests),
    failed: last.tests.length - passed(last.tests),
    runs: own.length,
    passRate: rate(passed(tests), tests.length),
    errorRate: rate(tests.filter(({ outcome }) => outcome === "error").length, tests.length),
    latencyMs: {
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      max: latencies.at(-1) ?? 0,
    },
  };
}

/** The smallest value that at least this share of the values does not exceed; `sorted` is ascending. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
