/**
 * Spelling suggestions for names of a program: edit distance with transpositions,
 * ignoring case and `_`, for up to half of the letters. The tolerance is wider than
 * that of `nearestName` in the diagnostics package, because a program has few names
 * and all of them are plausible.
 */

/** Maximum length of a name that is compared. */
const maxLength = 100;

/**
 * The candidate that was most likely meant by `name`.
 *
 * @returns the nearest candidate with an edit distance below `(length + 1) / 2`
 *   (names of at least two letters can always differ by one); the first one on a tie.
 *   `undefined` if no candidate is near enough, and for names of one letter.
 */
export function nearestSpelling(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(name);
  if (wanted.length < 2 || wanted.length > maxLength) return undefined;
  // One edit turns a name of two letters into too many others, so a candidate must share a letter.
  let limit = Math.max(2, Math.floor((wanted.length + 1) / 2));
  let best: string | undefined;
  for (const candidate of candidates) {
    if (candidate === name || candidate.length > 2 * maxLength) continue;
    const folded = fold(candidate);
    if (Math.abs(folded.length - wanted.length) >= limit) continue;
    const distance = editDistance(wanted, folded, limit);
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

/**
 * Edit distance between `a` and `b` (insertions, deletions, substitutions,
 * transpositions); inexact from `limit` on.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforePrevious = new Uint8Array(b.length + 1);
  let previous = new Uint8Array(b.length + 1);
  let current = new Uint8Array(b.length + 1);
  for (let j = 0; j <= b.length; j += 1) previous[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    current[0] = i;
    let least = i;
    const unit = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j += 1) {
      let cost = previous[j - 1]! + (unit === b.charCodeAt(j - 1) ? 0 : 1);
      cost = Math.min(cost, previous[j]! + 1, current[j - 1]! + 1);
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)) {
        cost = Math.min(cost, beforePrevious[j - 2]! + 1);
      }
      current[j] = cost;
      if (cost < least) least = cost;
    }
    if (least >= limit) return limit;
    [beforePrevious, previous, current] = [previous, current, beforePrevious];
  }
  return previous[b.length]!;
}
