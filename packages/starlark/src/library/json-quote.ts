/**
 * Strings as JSON literals.
 */

/** Up to this length, reading characters one by one is faster than `JSON.stringify`. */
const shortLength = 24;

/** Quotes a string for JSON; a lone surrogate becomes U+FFFD. */
export function quoteJson(text: string): string {
  if (text.length > shortLength) return JSON.stringify(text.toWellFormed());
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Control characters, surrogates, the quotation mark and the backslash.
    if (unit < 0x20 || (unit & 0xf800) === 0xd800 || unit === 0x22 || unit === 0x5c) {
      return JSON.stringify(text.toWellFormed());
    }
  }
  return `"${text}"`;
}
