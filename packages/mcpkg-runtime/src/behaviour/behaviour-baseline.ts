/**
 * The results with which a scheduled run of the tests of a package is compared. An outage, and a run of the
 * command `toolcrib test`, do not change them. Pure.
 */

import type { TestRun } from "@toolcrib/store";
import type { BehaviourChange } from "../tests/compare-runs.ts";

type TestRecord = TestRun["tests"][number];

/** The results of earlier runs. */
export interface Baseline {
  /** The last result of each test that is no `error`. */
  readonly results: readonly TestRecord[];
  /** Paths of the tests without a result in the last run. */
  readonly failing: ReadonlySet<string>;
}

/** Returns the baseline of an archive from the runs of its package, the oldest first. */
export function baselineOf(runs: readonly TestRun[], digest: string): Baseline {
  const own = runs.filter((run) => run.by === "schedule" && run.digest === digest);
  const results = new Map<string, TestRecord>();
  for (const { tests } of own) {
    for (const one of tests) if (one.outcome !== "error") results.set(one.path, one);
  }
  const last = own.at(-1)?.tests ?? [];
  const failing = last.flatMap(({ path, outcome }) => (outcome === "error" ? [path] : []));
  return { results: [...results.values()], failing: new Set(failing) };
}

/** Leaves out an outage that the run before had too, so that it is on record once. */
export function newChanges(
  changes: readonly BehaviourChange[],
  { failing }: Baseline,
): readonly BehaviourChange[] {
  return changes.filter(({ test, kind }) => kind !== "error" || !failing.has(test));
}
