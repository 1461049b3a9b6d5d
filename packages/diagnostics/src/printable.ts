/** Makes untrusted text safe to print, without changing its length. */

/**
 * Control characters except tab and line feed, and characters that change the
 * text direction. Terminals and editors interpret them.
 */
const interpreted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Replaces every character that is interpreted and not shown by `\ufffd`. */
export function printable(text: string): string {
  return text.replace(interpreted, "\ufffd");
}
