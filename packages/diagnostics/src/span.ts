/**
 * Positions in a text: UTF-16 offsets for programs, line and column for people.
 */

/** A range of a source text; `end` is exclusive. Offsets count UTF-16 units from 0. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A position for people: both numbers count from 1, the column in UTF-16 units. */
export interface Position {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A named text that diagnostics point into. */
export interface Source {
  /** The name in messages: a path as given by the user, or `<stdin>`. */
  readonly name: string;
  readonly text: string;
}

/** Returns the position of `offset` in `text`; an offset past the end becomes the end. */
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

/** Returns line `lineNumber` (from 1) of `text`, without its line break. */
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
