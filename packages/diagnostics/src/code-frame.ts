/**
 * Code frames: a line of source with carets below the position of a finding,
 * aligned for a terminal with fixed columns.
 */

import { printable } from "./printable.ts";
import { lineText, positionAt, type Span } from "./span.ts";

/** Maximum number of characters of a line that are shown, so that a minified file does not flood a terminal. */
const maxShown = 160;
/** Characters shown before the position in a line that is cut at its beginning. */
const shownBefore = 40;

/** Returns the line at the start of `span` and the carets below it, without the further lines of a longer span. */
export function codeFrame(text: string, span: Span): [line: string, carets: string] {
  const { lineNumber, columnNumber } = positionAt(text, span.start);
  const line = lineText(text, lineNumber);
  const at = Math.min(columnNumber - 1, line.length);
  const from = at < maxShown ? 0 : wholeCharacter(line, at - shownBefore);
  const to = wholeCharacter(line, Math.min(line.length, from + maxShown));
  const end = Math.max(at, Math.min(at + span.end - span.start, to));
  const prefix = `${lineNumber} | `;
  const front = from > 0 ? "…" : "";
  const back = to < line.length ? "…" : "";
  const before = `${prefix}${front}${shownText(line.slice(from, at))}`;
  const carets = "^".repeat(Math.max(1, columnsOf(shownText(line.slice(at, end)))));
  return [`${before}${shownText(line.slice(at, to))}${back}`, " ".repeat(columnsOf(before)) + carets];
}

/** Returns `index`, or the index before it if `index` is inside a surrogate pair. */
function wholeCharacter(line: string, index: number): number {
  const unit = line.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/** Replaces tabs by spaces, so that the carets stay aligned. */
function shownText(text: string): string {
  return printable(text).replaceAll("\t", " ");
}

/** Characters that occupy two columns (Unicode TR 11, wide and full width), and those that occupy none. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const noColumn = /[\p{Mn}\p{Me}\u200b-\u200d]/u;

function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (wide.test(character)) columns += 2;
    else if (!noColumn.test(character)) columns += 1;
  }
  return columns;
}
