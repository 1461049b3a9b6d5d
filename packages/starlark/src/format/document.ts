/**
 * Documents of the formatter: text with possible line breaks. A group is on one line
 * if it fits, and otherwise breaks at all of its own breaks.
 *
 * Documents are data; `render.ts` converts them to text.
 */

/** A text, or a structure with possible line breaks. */
export type Document = string | Sequence | Group | Indentation | Break | LastComma | EndComment;

interface Sequence {
  readonly kind: "sequence";
  readonly parts: readonly Document[];
  readonly isBroken: boolean;
}

/** On one line if it fits and contains no mandatory break. */
interface Group {
  readonly kind: "group";
  readonly content: Document;
  readonly isBroken: boolean;
}

/** Indents the lines that start in it by one level. */
interface Indentation {
  readonly kind: "indentation";
  readonly content: Document;
  readonly isBroken: boolean;
}

/** A possible or mandatory line break. */
interface Break {
  readonly kind: "break";
  /** The text if the line does not break. */
  readonly flat: "" | " ";
  /** Whether an empty line follows the break. */
  readonly blank: boolean;
  /** Whether a closing bracket follows, which is indented one level less. */
  readonly closes: boolean;
  readonly isBroken: boolean;
}

/** A comma if the enclosing group is broken. */
interface LastComma {
  readonly kind: "lastComma";
  readonly isBroken: false;
}

/** A comment at the end of the current line. */
interface EndComment {
  readonly kind: "endComment";
  readonly text: string;
  readonly isBroken: boolean;
}

/** Whether `document` contains a mandatory break. */
export function isBroken(document: Document): boolean {
  return typeof document !== "string" && document.isBroken;
}

/** Concatenates documents. */
export function sequence(parts: readonly Document[]): Document {
  return parts.length === 1 ? parts[0]! : { kind: "sequence", parts, isBroken: parts.some(isBroken) };
}

/** Groups documents on one line or with all breaks. `mustBreak` selects one, if it is known. */
export function group(content: Document, mustBreak = false): Document {
  return { kind: "group", content, isBroken: mustBreak || isBroken(content) };
}

/** Indents by one level. */
export function indented(content: Document): Document {
  return { kind: "indentation", content, isBroken: isBroken(content) };
}

/** A break, or nothing. */
export const softBreak: Document = { kind: "break", flat: "", blank: false, closes: false, isBroken: false };
/** Like `softBreak`, before a closing bracket. */
export const closingBreak: Document = {
  kind: "break",
  flat: "",
  blank: false,
  closes: true,
  isBroken: false,
};
/** A break, or a space. */
export const spaceBreak: Document = {
  kind: "break",
  flat: " ",
  blank: false,
  closes: false,
  isBroken: false,
};
/** A mandatory break. */
export const hardBreak: Document = { kind: "break", flat: "", blank: false, closes: false, isBroken: true };
/** A comma before the closing bracket, if the bracket is on its own line. */
export const lastComma: Document = { kind: "lastComma", isBroken: false };

/** Returns `document`, which must be a break, with an empty line if it breaks. */
export function withBlank(document: Document, blank: boolean): Document {
  if (!blank || typeof document === "string" || document.kind !== "break") return document;
  return { ...document, blank: true };
}

/** A comment at the end of its line, with a mandatory break after it. */
export function endComment(text: string): Document {
  return { kind: "endComment", text, isBroken: true };
}

/** A comment at the end of the line, without a break. */
export function danglingComment(text: string): Document {
  return { kind: "endComment", text, isBroken: false };
}
