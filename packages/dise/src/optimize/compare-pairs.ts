/**
 * Compares the times of two variants that were measured in pairs: both of a pair in the same minute, in alternating
 * order, so that what else the machine does meets both. Pure.
 */

/** A pair of times in milliseconds. */
export interface TimePair {
  readonly before: number;
  readonly after: number;
}

/** The result of a comparison. */
export interface PairComparison {
  readonly pairs: number;
  /** Median milliseconds of each. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** Median of the relative times: 0.5 means that it takes half of the time. */
  readonly ratio: number;
  /** Pairs in which it was faster. */
  readonly fasterPairs: number;
  /** Whether it is faster by the wanted gain, in at least four of five pairs. */
  readonly isFaster: boolean;
}

/** Share of the pairs in which a faster variant is faster. */
const fasterShareMin = 0.8;

/** Compares `pairs`. @param minGain smallest share of the time that is saved, from 0 to 1 */
export function comparePairs(pairs: readonly TimePair[], minGain: number): PairComparison {
  const ratio = medianOf(pairs.map(({ before, after }) => after / Math.max(before, 0.001)));
  const fasterPairs = pairs.filter(({ before, after }) => after < before).length;
  return {
    pairs: pairs.length,
    beforeMs: medianOf(pairs.map(({ before }) => before)),
    afterMs: medianOf(pairs.map(({ after }) => after)),
    ratio,
    fasterPairs,
    isFaster: pairs.length > 0 && ratio <= 1 - minGain && fasterPairs >= fasterShareMin * pairs.length,
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
