/**
 * Spelling suggestions for names of a program: edit distance with transpositions,
 * ignoring case and `_`, for up to half of the letters. The tolerance is wider than
 * that of `nearestName` in the diagnostics package, because a program has few names
 * and all of them are plausible.
 */

import { editDistance } from "@toolcrib/diagnostics";

/** Maximum length of a name that is compared. */
const maxLength = 100;

/** Cells of one search: half a millisecond, because programs can cause it in a loop. */
const searchCells = 100_000;

/**
 * The candidate that was most likely meant by `name`.
 *
 * @param budget the work of all searches that share it. @default that of one search, half a millisecond
 * @returns the nearest candidate with an edit distance below `(length + 1) / 2`
 *   (names of at least two letters can always differ by one); the first one on a tie.
 *   `undefined` if no candidate is near enough, or none among those that the budget covers, and
 *   for names of one letter.
 */
export function nearestSpelling(
  name: string,
  candidates: Iterable<string>,
  budget: { left: number } = { left: searchCells },
): string | undefined {
  const wanted = fold(name);
  if (wanted.length < 2 || wanted.length > maxLength) return undefined;
  // One edit turns a name of two letters into too many others, so a candidate must share a letter.
  let limit = Math.max(2, Math.floor((wanted.length + 1) / 2));
  let best: string | undefined;
  for (const candidate of candidates) {
    if (budget.left <= 0) break;
    if (candidate === name || candidate.length > 2 * maxLength) continue;
    const folded = fold(candidate);
    const distance = editDistance(wanted, folded, limit, budget);
    if (distance < limit && distance < folded.length) {
      limit = distance;
      best = candidate;
      if (distance === 0) break;
    }
  }
  return best;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}
