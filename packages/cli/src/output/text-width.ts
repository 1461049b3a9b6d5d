/** Measures text in terminal columns, and cuts or pads it. Pure. */

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const zero = /[\p{Mn}\p{Me}]/u;

/** Returns the width of `text`, which must not contain escape sequences. */
export function textWidth(text: string): number {
  // Fast path for ASCII.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += zero.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** Cuts `text` to at most `width` columns; an ellipsis replaces the rest. */
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

/** Cuts a name to at most `width` columns: an ellipsis replaces its middle, because names often begin alike. */
export function fitName(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const tailWidth = Math.floor((width - 1) / 2);
  let tail = "";
  for (const character of [...text].reverse()) {
    if (textWidth(character) + textWidth(tail) > tailWidth) break;
    tail = character + tail;
  }
  const head = fitText(text, width - textWidth(tail));
  return `${head}${tail}`;
}

/** Pads `text` with spaces to `width` columns. */
export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
