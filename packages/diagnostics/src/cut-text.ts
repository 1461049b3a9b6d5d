/** Cuts texts that somebody else chose for messages and logs, without a beginning of a secret at the cut. Pure. */

/** Characters after the cut that are searched for secrets, too: the longest stored secret in its longest form. */
const secretMaxLength = 512 * 1024;

/**
 * Returns the first `maxLength` characters of `text`. Secrets are removed before the cut: the beginning of one could not
 * be recognized after it. A text that is not longer is returned as it is.
 *
 * @param scrub removes secrets. @default the text has none
 */
export function cutText(
  text: string,
  maxLength: number,
  scrub: (text: string) => string = (given) => given,
): string {
  if (text.length <= maxLength) return text;
  return scrub(text.slice(0, maxLength + secretMaxLength))
    .slice(0, maxLength)
    .toWellFormed();
}
