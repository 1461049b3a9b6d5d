/** The measurements of each implementation of a package in the history of its tests. Pure. */

import type { Measurement } from "./select.ts";

/** A run of tests, such as `TestRun` of the store. */
interface MeasuredRun {
  readonly digest: string;
  /** Id of the implementation that ran; absent where none was chosen for the run. */
  readonly implementation?: string;
  readonly tests: readonly { readonly outcome: string; readonly latencyMs: number }[];
}

/** Newest runs of each implementation that count. */
const runsMaxCount = 20;

/** Returns the measurements of the implementations of one archive, by their ids. @param runs the oldest first */
export function measurementsOf(
  runs: readonly MeasuredRun[],
  digest: string,
): ReadonlyMap<string, Measurement> {
  const byId = Map.groupBy(
    runs.filter((run) => run.digest === digest && run.implementation !== undefined && run.tests.length > 0),
    ({ implementation }) => implementation as string,
  );
  return new Map([...byId].map(([id, own]) => [id, measurementOf(own.slice(-runsMaxCount))]));
}

function measurementOf(runs: readonly MeasuredRun[]): Measurement {
  const tests = runs.flatMap((run) => run.tests);
  const passed = tests.filter(({ outcome }) => outcome === "passed");
  const latencies = passed.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other);
  return {
    passRate: passed.length / tests.length,
    latencyMs: latencies[Math.floor((latencies.length - 1) / 2)] ?? 0,
    runs: runs.length,
  };
}
