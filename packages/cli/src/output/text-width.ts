/** How many columns of a terminal a text takes, and cutting it to fit. Pure. */

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const zero = /[\p{Mn}\p{Me}]/u;

/** Columns of `text`, which holds no escape sequences. */
export function textWidth(text: string): number {
  // The common case needs no look at single characters.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += zero.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** `text` in at most `width` columns; what is cut off is shown as an ellipsis. */
export function fitText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let fitted = "";
  let used = 0;
  for (const character of text) {
    used += textWidth(character);
    if (used > width - 1) break;
    fitted += character;
  }
  return `${fitted.trimEnd()}…`;
}

/** `text` filled up with spaces to `width` columns. */
export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
