/**
 * Comparison of words that differ by one typing error: an added, missing or wrong
 * letter, or two exchanged neighbors. One pass, without a matrix.
 */

/** Whether exactly one edit turns `a` into `b`. */
export function isOneEditAway(a: string, b: string): boolean {
  const longer = a.length >= b.length ? a : b;
  const shorter = a.length >= b.length ? b : a;
  if (longer.length - shorter.length > 1) return false;
  let at = 0;
  while (at < shorter.length && longer[at] === shorter[at]) at += 1;
  if (longer.length !== shorter.length) return longer.endsWith(shorter.slice(at));
  if (at === longer.length) return false;
  const isSubstituted = sameFrom(a, b, at + 1);
  const isExchanged = a[at] === b[at + 1] && a[at + 1] === b[at] && sameFrom(a, b, at + 2);
  return isSubstituted || isExchanged;
}

function sameFrom(a: string, b: string, start: number): boolean {
  for (let index = start; index < a.length; index += 1) {
    if (a[index] !== b[index]) return false;
  }
  return true;
}
