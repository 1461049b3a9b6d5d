/** Cuts texts that somebody else chose for messages and logs, without a beginning of a secret at the cut. Pure. */

/** Characters after the cut that are searched for secrets, too: the longest stored secret in its longest form. */
const secretMaxLength = 512 * 1024;

/**
 * Returns the first `maxLength` characters of `text`. Secrets are removed before the cut: the beginning of one could not
 * be recognized after it. A text that is not longer is returned as it is.
 *
 * Of a very long text only the beginning is searched. The end of that can be half of a secret, which nothing recognizes,
 * and what is removed before it moves it forward: only what is left of the first `maxLength` characters is returned then.
 *
 * @param scrub replaces secrets by texts that are not their beginnings. @default the text has none
 * @param options.isBeginning whether `text` is itself cut off, after the longest secret that can begin in the part to keep. @default false
 */
export function cutText(
  text: string,
  maxLength: number,
  scrub: (text: string) => string = (given) => given,
  { isBeginning = false }: { readonly isBeginning?: boolean } = {},
): string {
  if (text.length <= maxLength) return text;
  const searched = text.slice(0, maxLength + secretMaxLength);
  const clean = scrub(searched);
  const isComplete = !isBeginning && searched.length === text.length;
  // A secret that begins before the cut and ends after it is whole in `clean` alone: there, the two differ.
  const length = isComplete ? maxLength : commonLength(clean, scrub(text.slice(0, maxLength)));
  return clean.slice(0, Math.min(length, maxLength)).toWellFormed();
}

/** Returns the number of characters with which both texts begin. */
function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}
