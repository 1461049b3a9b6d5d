/**
 * Long lists of cases that are all alike: a person who runs the tests gets a
 * sample within the time they wait, CI gets all of them.
 */

/** Whether long lists run whole: in CI, or with `TOOLCRIB_TEST_ALL`. */
export const runsAll = process.env["CI"] !== undefined || process.env["TOOLCRIB_TEST_ALL"] !== undefined;

/** All of `cases` where `runsAll`; else every `step`-th, the first one included. */
export function sampled<T>(cases: readonly T[], step: number): readonly T[] {
  return runsAll ? cases : cases.filter((_, index) => index % step === 0);
}

/** Options for a test that stands for the cases which a sample leaves out: it says so, and is counted as skipped. */
export function leftOut(step: number): { readonly skip: string | false } {
  return { skip: runsAll ? false : `one in ${step} ran; CI=true or TOOLCRIB_TEST_ALL=1 runs all` };
}
