/** Interprets the texts of YAML: plain scalars, escapes, folded lines. Pure. */

import type { ScalarValue } from "./document-tree.ts";

const number = /^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)$/;

/** Converts a plain text by the core schema of YAML 1.2. */
export function readScalar(text: string): ScalarValue {
  const first = text.charCodeAt(0);
  // Only numbers begin with a character before the colon in ASCII.
  if (first < 0x3a) {
    const value = number.test(text) ? Number(text) : text;
    return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY ? text : value;
  }
  return text.length < 6 && wordStart.test(text) ? readWord(text) : text;
}

const wordStart = /^[nNtTfF~]|^$/;

function readWord(text: string): ScalarValue {
  switch (text) {
    case "":
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    default:
      return text;
  }
}

const escapes: { readonly [name: string]: string } = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

/** A text on one line whose escapes are those of JSON. */
const jsonText = /^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/** Resolves the escapes and line breaks of a double-quoted text; `undefined` for a bad escape. */
export function unescapeDoubleQuoted(inner: string): string | undefined {
  if (!inner.includes("\\")) return foldLines(inner);
  if (jsonText.test(inner)) return JSON.parse(`"${inner}"`) as string;
  let isBad = false;
  // A backslash before a line break joins the lines without a space; escaped breaks and spaces are not folded.
  const parts = inner.split(/(\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|[^\n]))/);
  const kept: string[] = [];
  const marked = parts.map((part, index) => {
    if (index % 2 === 0) {
      if (part.includes("\\")) isBad = true;
      return part;
    }
    if (part.startsWith("\\\n")) return "";
    const read = readEscape(part.slice(1));
    if (read === undefined) isBad = true;
    kept.push(read ?? "");
    return "\u0001";
  });
  if (isBad || inner.includes("\u0001")) return undefined;
  let next = 0;
  return foldLines(marked.join("")).replaceAll("\u0001", () => {
    next += 1;
    return kept[next - 1] ?? "";
  });
}

function readEscape(name: string): string | undefined {
  if (name.length === 1) return Object.hasOwn(escapes, name) ? escapes[name] : undefined;
  const code = Number.parseInt(name.slice(1), 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Folds the lines of a quoted text: a single break becomes a space, further breaks stay. */
export function foldLines(text: string): string {
  if (!text.includes("\n")) return text;
  return text.replace(/[ \t]*\n(?:[ \t]*\n)*[ \t]*/g, (gap) => {
    const breaks = gap.split("\n").length - 1;
    return breaks === 1 ? " " : "\n".repeat(breaks - 1);
  });
}

/** Returns the lines of a block text (`|` or `>`) as one text. */
export function blockText(
  lines: readonly string[],
  { isFolded, chomping }: { readonly isFolded: boolean; readonly chomping: string },
): string {
  let last = lines.length;
  while (last > 0 && lines[last - 1] === "") last -= 1;
  const content = lines.slice(0, last);
  const text = isFolded ? folded(content) : content.join("\n");
  const kept = chomping === "+" ? "\n".repeat(lines.length - last) : "";
  return content.length === 0 || chomping === "-" ? text + kept : `${text}\n${kept}`;
}

/** Folds the lines of a `>` text: a break becomes a space, except next to indented and empty lines. */
function folded(lines: readonly string[]): string {
  let text = "";
  let isKept = true;
  let blank = 0;
  let isFirst = true;
  for (const line of lines) {
    if (line === "") {
      blank += 1;
      continue;
    }
    const isIndented = /^[ \t]/.test(line);
    if (isFirst) text += "\n".repeat(blank);
    else if (isKept || isIndented) text += "\n".repeat(blank + 1);
    else text += blank === 0 ? " " : "\n".repeat(blank);
    text += line;
    isKept = isIndented;
    isFirst = false;
    blank = 0;
  }
  return text;
}
