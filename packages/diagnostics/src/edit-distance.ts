/**
 * Edit distance with transpositions (restricted Damerau–Levenshtein distance), for
 * suggestions. Names and candidates can come from clients and servers, so that all
 * comparisons of one search share a budget.
 */

/** Longest text that is compared, in UTF-16 units. */
export const comparedMaxLength = 200;

/** The work that comparisons may still take, in cells of their tables; a microsecond holds about 200 cells. */
export interface ComparisonBudget {
  left: number;
}

/** Cells that one candidate takes at least: reading and folding it. */
const candidateCells = 20;

const scratch = [0, 1, 2].map(() => new Uint8Array(comparedMaxLength + 2));

/**
 * Returns the edit distance between `a` and `b` (insertions, deletions,
 * substitutions, transpositions of neighbours), or `limit` if it is not below it.
 * Without budget the answer is `limit`.
 *
 * @param a at most `comparedMaxLength` units, as `b`.
 * @param limit at most 255.
 */
export function editDistance(a: string, b: string, limit: number, budget: ComparisonBudget): number {
  budget.left -= candidateCells;
  if (Math.abs(a.length - b.length) >= limit || budget.left <= 0) return limit;
  let [beforePrevious, previous, current] = scratch as [Uint8Array, Uint8Array, Uint8Array];
  for (let j = 0; j <= b.length; j += 1) previous[j] = Math.min(j, limit);
  for (let i = 1; i <= a.length; i += 1) {
    // Only cells near the diagonal can be below the limit.
    const first = Math.max(1, i - limit + 1);
    const last = Math.min(b.length, i + limit - 1);
    budget.left -= last - first + 1;
    current[first - 1] = first === 1 ? Math.min(i, limit) : limit;
    let least = current[first - 1]!;
    const unit = a.charCodeAt(i - 1);
    for (let j = first; j <= last; j += 1) {
      let cost = previous[j - 1]! + (unit === b.charCodeAt(j - 1) ? 0 : 1);
      cost = Math.min(cost, previous[j]! + 1, current[j - 1]! + 1, limit);
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)) {
        cost = Math.min(cost, beforePrevious[j - 2]! + 1);
      }
      current[j] = cost;
      if (cost < least) least = cost;
    }
    if (last < b.length) current[last + 1] = limit;
    if (least >= limit) return limit;
    [beforePrevious, previous, current] = [previous, current, beforePrevious];
  }
  return previous[b.length]!;
}
