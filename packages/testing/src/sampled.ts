/**
 * Long lists of similar cases: `npm test` runs a sample in a short time, and
 * `npm run verify` runs all of them.
 */

/** Whether long lists run whole: `npm run verify` sets `TOOLCRIB_TEST_ALL`. */
export const runsAll = process.env["TOOLCRIB_TEST_ALL"] !== undefined;

/** Whether lists run at their shortest: `npm test -- --fast` sets `TOOLCRIB_TEST_FAST`. */
const runsFast = process.env["TOOLCRIB_TEST_FAST"] !== undefined && !runsAll;

/** Reduces samples further for `--fast`. */
const fastFactor = 10;

/** Returns all of `cases` where `runsAll`; otherwise every `step`-th, starting with the first. */
export function sampled<T>(cases: readonly T[], step: number): readonly T[] {
  if (runsAll) return cases;
  const distance = runsFast ? step * fastFactor : step;
  return cases.filter((_, index) => index % distance === 0);
}

/** Returns the number of cases that a property generates: `count`, and a tenth of it in `npm test -- --fast`. */
export function runCount(count: number): number {
  return runsFast ? Math.ceil(count / fastFactor) : count;
}

/** Returns `cases`, and every tenth of them in `npm test -- --fast`, starting with the first. */
export function fastSample<T>(cases: readonly T[]): readonly T[] {
  return runsFast ? cases.filter((_, index) => index % fastFactor === 0) : cases;
}

/** Options of a test that takes seconds of CPU time: `npm test -- --fast` skips it. */
export const slowTest: { readonly skip: string | false } = {
  skip: runsFast ? "takes seconds; npm test runs it" : false,
};

/** Returns options for a test that represents the omitted cases of a sample: it is skipped with a reason, and counted. */
export function leftOut(step: number): { readonly skip: string | false } {
  return {
    skip: runsAll ? false : `one in ${runsFast ? step * fastFactor : step} ran; npm run verify runs all`,
  };
}
