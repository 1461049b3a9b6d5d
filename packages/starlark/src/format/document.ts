/**
 * What the formatter lays out: texts with places where a line may break. A group
 * stands on one line if it fits, and otherwise breaks at all of its own places.
 *
 * Documents are data; `render.ts` makes text of them.
 */

/** A text, or a part of one that knows where it may break. */
export type Document = string | Sequence | Group | Indentation | Break | LastComma | EndComment;

interface Sequence {
  readonly kind: "sequence";
  readonly parts: readonly Document[];
  readonly isBroken: boolean;
}

/** On one line if it fits and nothing in it has to break. */
interface Group {
  readonly kind: "group";
  readonly content: Document;
  readonly isBroken: boolean;
}

/** Lines that begin in it are indented one level deeper. */
interface Indentation {
  readonly kind: "indentation";
  readonly content: Document;
  readonly isBroken: boolean;
}

/** A place where a line may break, or has to. */
interface Break {
  readonly kind: "break";
  /** What stands there when the line does not break. */
  readonly flat: "" | " ";
  /** Whether an empty line comes with it. */
  readonly blank: boolean;
  /** Whether a closing bracket follows, one level above what it closes. */
  readonly closes: boolean;
  readonly isBroken: boolean;
}

/** A comma where the group around it is broken; nothing where it is not. */
interface LastComma {
  readonly kind: "lastComma";
  readonly isBroken: false;
}

/** A comment for the end of the line that is being written. */
interface EndComment {
  readonly kind: "endComment";
  readonly text: string;
  readonly isBroken: boolean;
}

/** Whether `document` has to break. */
export function isBroken(document: Document): boolean {
  return typeof document !== "string" && document.isBroken;
}

/** One after the other. */
export function sequence(parts: readonly Document[]): Document {
  return parts.length === 1 ? parts[0]! : { kind: "sequence", parts, isBroken: parts.some(isBroken) };
}

/** Together on one line, or with all breaks; `mustBreak` says which it is to be, if it is known. */
export function group(content: Document, mustBreak = false): Document {
  return { kind: "group", content, isBroken: mustBreak || isBroken(content) };
}

/** One level deeper. */
export function indented(content: Document): Document {
  return { kind: "indentation", content, isBroken: isBroken(content) };
}

/** A break, or nothing. */
export const softBreak: Document = { kind: "break", flat: "", blank: false, closes: false, isBroken: false };
/** As `softBreak`, before a closing bracket. */
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
/** A break that is one. */
export const hardBreak: Document = { kind: "break", flat: "", blank: false, closes: false, isBroken: true };
/** A comma before the closing bracket, if that stands on a line of its own. */
export const lastComma: Document = { kind: "lastComma", isBroken: false };

/** `document`, which is one of the breaks, with an empty line where it breaks. */
export function withBlank(document: Document, blank: boolean): Document {
  if (!blank || typeof document === "string" || document.kind !== "break") return document;
  return { ...document, blank: true };
}

/** A comment at the end of its line, which breaks behind it. */
export function endComment(text: string): Document {
  return { kind: "endComment", text, isBroken: true };
}

/** A comment for the end of the line, wherever that is. */
export function strayComment(text: string): Document {
  return { kind: "endComment", text, isBroken: false };
}
