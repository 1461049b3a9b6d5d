/**
 * Places in a text: byte-free, by UTF-16 offset, with line and column for people.
 */

/** A stretch of a source text; `end` is exclusive. Offsets count UTF-16 units from 0. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A place for people: both numbers count from 1, the column in UTF-16 units. */
export interface Position {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A named text that diagnostics point into. */
export interface Source {
  /** What people call it: a path as they gave it, or `<stdin>`. */
  readonly name: string;
  readonly text: string;
}

/** The position of `offset` in `text`; an offset past the end is the end. */
export function positionAt(text: string, offset: number): Position {
  const end = Math.min(offset, text.length);
  let lineNumber = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    lineNumber += 1;
    lineStart = at + 1;
  }
  return { lineNumber, columnNumber: end - lineStart + 1 };
}

/** Line `lineNumber` (from 1) of `text`, without its line break. */
export function lineText(text: string, lineNumber: number): string {
  let start = 0;
  for (let line = 1; line < lineNumber; line += 1) {
    const next = text.indexOf("\n", start);
    if (next === -1) return "";
    start = next + 1;
  }
  const end = text.indexOf("\n", start);
  return text.slice(start, end === -1 ? text.length : end).replace(/\r$/, "");
}
