/**
 * Changes in the behaviour of a package between two runs of its tests (MCPKG document, section 12,
 * "Regression Detection"). Pure.
 */

import type { TestResult } from "./run-package-tests.ts";

/** A change of one test. */
export interface BehaviourChange {
  /** Path of the test. */
  readonly test: string;
  /** `failed`: another result; `shape`: a result that passes, with other members or types; `error`: no result. */
  readonly kind: "failed" | "shape" | "error";
  readonly reason: string;
}

type Compared = Pick<TestResult, "path" | "outcome" | "shape"> & Partial<Pick<TestResult, "failures">>;

/** Returns what changed from `before` to `after`, both runs of the same archive. Tests that did not pass before are not compared. */
export function compareRuns(
  before: readonly Compared[],
  after: readonly Compared[],
): readonly BehaviourChange[] {
  const known = new Map(before.map((one) => [one.path, one]));
  return after.flatMap((one): BehaviourChange[] => {
    const previous = known.get(one.path);
    if (previous?.outcome !== "passed") return [];
    const { path: test, outcome, failures } = one;
    if (outcome !== "passed") return [{ test, kind: outcome, reason: failures?.[0] ?? outcome }];
    if (previous.shape === undefined || previous.shape === one.shape) return [];
    return [{ test, kind: "shape", reason: "the result has other members, or members of other types" }];
  });
}
