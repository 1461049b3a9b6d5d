/** Texts of others, made safe to print. Keeps the length of a text. */

/**
 * Control characters but for tab and line feed, and those that turn the
 * direction of what follows: a terminal or an editor would obey them.
 */
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** `text` with every character that is obeyed and not shown replaced by `\ufffd`. */
export function printable(text: string): string {
  return text.replace(obeyed, "\ufffd");
}
