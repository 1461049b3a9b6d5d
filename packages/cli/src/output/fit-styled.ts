/** Fits lines with styles to the width of a terminal: cut, or wrapped. Pure. */

import { textWidth } from "./text-width.ts";

const style = /(\u001b\[[0-9;]*m)/;

/**
 * Cuts `line` to at most `width` columns; an ellipsis replaces the rest. Styles take no columns, and those of
 * the rest are kept, so that none continues in the next line.
 *
 * @param line text that is safe for a terminal, with styles of `Output.style`
 */
export function fitStyled(line: string, width: number): string {
  const parts = line.split(style);
  const texts = parts.filter((_part, at) => at % 2 === 0);
  if (texts.reduce((sum, text) => sum + textWidth(text), 0) <= width) return line;
  let left = width - 1;
  let isCut = false;
  return parts
    .map((part, at) => {
      if (at % 2 === 1) return part;
      if (isCut) return "";
      let kept = "";
      for (const character of part) {
        left -= textWidth(character);
        if (left < 0) {
          isCut = true;
          return `${kept}…`;
        }
        kept += character;
      }
      return kept;
    })
    .join("");
}

/** A visible character with the styles before it. */
interface Cell {
  readonly text: string;
  readonly width: number;
  readonly isSpace: boolean;
}

/**
 * Wraps `line` at spaces to lines of at most `width` columns. A word that is wider is broken. A style continues
 * in the next line.
 *
 * @param line as for `fitStyled`
 */
export function wrapStyled(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let row: Cell[] = [];
  const textOf = (cells: readonly Cell[]) => cells.map(({ text }) => text).join("");
  for (const cell of cellsOf(line)) {
    row.push(cell);
    if (row.reduce((sum, one) => sum + one.width, 0) <= width) continue;
    const space = row.findLastIndex(({ isSpace }, at) => isSpace && at > 0);
    const end = space === -1 ? row.length - 1 : space;
    lines.push(textOf(row.slice(0, end)));
    row = row.slice(space === -1 ? end : end + 1);
  }
  return [...lines, textOf(row)];
}

function cellsOf(line: string): readonly Cell[] {
  let before = "";
  const cells: Cell[] = [];
  for (const [at, part] of line.split(style).entries()) {
    if (at % 2 === 1) before += part;
    else
      for (const character of part) {
        cells.push({ text: before + character, width: textWidth(character), isSpace: character === " " });
        before = "";
      }
  }
  return before === "" ? cells : [...cells, { text: before, width: 0, isSpace: false }];
}

/**
 * Wraps a sentence at spaces to lines of at most `width` columns. The lines after the first get the indent of the first
 * and two more spaces. A word that is wider, such as a path, and a command of Toolcrib stay whole, so that they can be
 * copied.
 *
 * @param line as for `fitStyled`
 */
export function wrapProse(line: string, width: number): readonly string[] {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const lines: string[] = [];
  let row = indent;
  let isEmpty = true;
  for (const word of unbreakable(line.slice(indent.length))) {
    const columns = textWidth(plain(row)) + (isEmpty ? 0 : 1) + textWidth(plain(word));
    if (!isEmpty && columns > width) {
      lines.push(row);
      row = `${indent}  ${word}`;
    } else row += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, row];
}

/** Words without a sign of an argument that can belong to a command: its subcommand and a name. */
const plainWordsMax = 2;

/** Further ones in a command that ends a sentence after a colon, such as those of `connect cursor codex zed`. */
const namesMax = 2;

/** Splits a sentence at spaces, except at those within a command of Toolcrib. */
function unbreakable(text: string): readonly string[] {
  const words = text.split(" ");
  const parts: string[] = [];
  for (let at = 0; at < words.length; ) {
    const end = commandEnd(words, at);
    parts.push(words.slice(at, end).join(" "));
    at = end;
  }
  return parts;
}

/** Returns the index after the command that starts at `start`, or after that one word. */
function commandEnd(words: readonly string[], start: number): number {
  const wordAt = (at: number) => plain(words[at] ?? "");
  // `npx toolcrib`, and Node with the path of the launcher where the PATH has no `toolcrib`.
  const isStarted =
    /^\W?npx$|\/node'?$/.test(wordAt(start)) && /^toolcrib$|\/toolcrib\.js'?$/.test(wordAt(start + 1));
  const program = isStarted ? start + 1 : start;
  if (!isStarted && !/^\W?toolcrib$/.test(wordAt(program))) return start + 1;
  const end = argumentsEnd(words, program + 1, plainWordsMax);
  // After a colon, the rest of a sentence can be the names that the command is about.
  if (end === words.length || start === 0 || !wordAt(start - 1).endsWith(":")) return end;
  const whole = argumentsEnd(words, program + 1, plainWordsMax + namesMax);
  return whole === words.length ? whole : end;
}

/** Returns the index after the arguments that begin at `start`, of which at most `plainMax` have no sign of one. */
function argumentsEnd(words: readonly string[], start: number, plainMax: number): number {
  const wordAt = (at: number) => plain(words[at] ?? "");
  let plainWords = 0;
  let at = start;
  while (at < words.length && !/[,;.)]$/.test(wordAt(at - 1))) {
    const word = wordAt(at);
    const isValue = at > start && /^--?[a-z][a-z-]*$/.test(wordAt(at - 1));
    const isArgument = isValue || /[-_:./@=\d'"]|^[A-Z]{2,}/.test(word.replace(/[,;.:)]+$/, ""));
    if (!isArgument && ++plainWords > plainMax) break;
    at = quotedEnd(words, at);
  }
  return at;
}

/** Returns the index after the argument at `start`, which can be a quoted text with spaces. */
function quotedEnd(words: readonly string[], start: number): number {
  if (!/^['"]|=['"]/.test(plain(words[start] ?? ""))) return start + 1;
  let quote = "";
  for (let at = start; at < words.length; at += 1) {
    for (const [part] of plain(words[at] ?? "").matchAll(/\\.|./g)) {
      const character = quote === "'" ? part.slice(-1) : part;
      if (quote === "" && /^['"]$/.test(character)) quote = character;
      else if (character === quote) quote = "";
    }
    if (quote === "") return at + 1;
  }
  // Without its end, it is an apostrophe.
  return start + 1;
}

function plain(text: string): string {
  return text
    .split(style)
    .filter((_part, at) => at % 2 === 0)
    .join("");
}
