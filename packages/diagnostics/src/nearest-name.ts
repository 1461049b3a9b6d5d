/**
 * Suggestions for misspelled names ("did you mean …"), by edit distance with
 * transpositions (restricted Damerau–Levenshtein distance), ignoring case.
 */

/**
 * Returns the candidate that is most similar to `name`.
 *
 * @returns the nearest candidate within a third of the length of `name` (at least 1,
 *   at most 3 edits) that has a character in common with it, the first of equals;
 *   `undefined` if none is near enough. Only the first 100 characters are compared.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(name);
  // One edit turns any letter into any other, so for a single letter every candidate would be near.
  let bestDistance = Math.min(Math.min(3, Math.max(1, Math.floor(wanted.length / 3))) + 1, wanted.length);
  let best: string | undefined;
  for (const candidate of candidates) {
    const folded = fold(candidate);
    if (Math.abs(folded.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, folded);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

function fold(name: string): string {
  return name.slice(0, 100).toLowerCase();
}

function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforePrevious[j - 2]! + 1);
      }
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
