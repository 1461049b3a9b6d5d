/**
 * Regressions of a package (MCPKG document, section 12): the newest run of its tests compared with the earlier runs of
 * any version. Latency varies by itself, so a test is slow only beyond a robust limit of its own history, in
 * the three newest runs. Pure.
 */

/** A run of tests, such as `TestRun` of the store. */
export interface ComparedRun {
  readonly version: string;
  readonly tests: readonly {
    readonly path: string;
    readonly outcome: "passed" | "failed" | "error";
    readonly latencyMs: number;
    readonly shape?: string;
    readonly failures?: readonly string[];
  }[];
}

/** A change for the worse of one test. */
export interface Regression {
  /** Path of the test. */
  readonly test: string;
  /** `outcome`: it passed and does not any more. `shape`: its result has other members or types. `latency`: it takes longer. */
  readonly kind: "outcome" | "shape" | "latency";
  readonly message: string;
}

/** Options of `findRegressions`. */
export interface RegressionOptions {
  /** Scaled median absolute deviations above the median from which on a call is slow. @default 8 */
  readonly deviations?: number;
  /** Times the median that a slow call takes at least. @default 2 */
  readonly factor?: number;
  /** Milliseconds above the median that a slow call takes at least. @default 50 */
  readonly slowerMinMs?: number;
}

/** Earlier runs that are compared. */
const windowCount = 20;
/** Fewest earlier latencies of a test. */
const latenciesMinCount = 5;
/** Newest runs that must be slow: single ones can be the machine. */
const slowRunsCount = 3;
/** Makes the median absolute deviation comparable to a standard deviation. */
const madScale = 1.4826;

/** Returns the regressions of the newest of `runs`, which are the oldest first. None without an earlier run. */
export function findRegressions(
  runs: readonly ComparedRun[],
  options: RegressionOptions = {},
): readonly Regression[] {
  const newest = runs.at(-1);
  if (newest === undefined || runs.length < 2) return [];
  const earlier = runs.slice(0, -1).slice(-windowCount - slowRunsCount);
  return newest.tests.flatMap((now): Regression[] => {
    const before = earlier.flatMap(({ tests }) => tests.filter(({ path }) => path === now.path));
    const { path: test } = now;
    const passed = before.filter(({ outcome }) => outcome === "passed");
    const last = passed.at(-1);
    if (last === undefined) return [];
    if (now.outcome !== "passed") {
      // A test that failed again is no news.
      if (before.at(-1)?.outcome !== "passed") return [];
      const reason = now.failures?.[0] ?? now.outcome;
      return [{ test, kind: "outcome", message: `it passed before: ${reason}` }];
    }
    const found: Regression[] = [];
    if (last.shape !== undefined && now.shape !== undefined && last.shape !== now.shape) {
      found.push({ test, kind: "shape", message: "its result has other members, or members of other types" });
    }
    const slow = latencyRegression([...passed.map(({ latencyMs }) => latencyMs), now.latencyMs], options);
    return slow === undefined ? found : [...found, { test, kind: "latency", message: slow }];
  });
}

/** @param latencies of the runs that passed, the newest last */
function latencyRegression(
  latencies: readonly number[],
  { deviations = 8, factor = 2, slowerMinMs = 50 }: RegressionOptions,
): string | undefined {
  const base = latencies.slice(0, -slowRunsCount);
  if (base.length < latenciesMinCount) return undefined;
  const median = medianOf(base);
  const deviation = madScale * medianOf(base.map((one) => Math.abs(one - median)));
  const limit = Math.max(median + deviations * deviation, factor * median, median + slowerMinMs);
  const newest = latencies.slice(-slowRunsCount);
  if (!newest.every((one) => one > limit)) return undefined;
  const shown = newest.map((one) => `${Math.round(one)} ms`).join(", ");
  return `it takes ${shown} in the newest runs, and took ${Math.round(median)} ms (limit ${Math.round(limit)} ms)`;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
