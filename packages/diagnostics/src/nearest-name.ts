/**
 * Suggestions for misspelled names ("did you mean …"), by edit distance with
 * transpositions, ignoring case.
 */

import { type ComparisonBudget, editDistance } from "./edit-distance.ts";

/** Cells of one search: a few milliseconds, and thousands of candidates. */
const searchCells = 500_000;

/**
 * Returns the candidate that is most similar to `name`.
 *
 * @param budget the work of all searches that share it. @default that of one search, a few milliseconds
 * @returns the nearest candidate within a third of the length of `name` (at least 1,
 *   at most 3 edits) that has a character in common with it, the first of equals;
 *   `undefined` if none is near enough, or none among those that the budget covers.
 *   Only the first 100 characters are compared.
 */
export function nearestName(
  name: string,
  candidates: Iterable<string>,
  budget: ComparisonBudget = { left: searchCells },
): string | undefined {
  const wanted = fold(name);
  // One edit turns any letter into any other, so for a single letter every candidate would be near.
  let bestDistance = Math.min(Math.min(3, Math.max(1, Math.floor(wanted.length / 3))) + 1, wanted.length);
  let best: string | undefined;
  for (const candidate of candidates) {
    if (budget.left <= 0) break;
    const distance = editDistance(wanted, fold(candidate), bestDistance, budget);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/**
 * Returns the suggestion of the nearest of `candidates` as a hint (`did you mean X?`), for a name that is not one of
 * them; undefined where none is near enough. See `nearestName`.
 */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const near = nearestName(name, candidates);
  return near === undefined || near === name ? undefined : `did you mean ${near}?`;
}

function fold(name: string): string {
  return name.slice(0, 100).toLowerCase();
}
