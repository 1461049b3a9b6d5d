/**
 * Renders documents as text. A group that fits is on one line. Takes time linear in
 * the size of the document, and does not recurse, so the nesting may be deep.
 */

import type { Document } from "./document.ts";

/** Maximum number of columns, where the line can be broken. */
export const lineWidth = 100;
/** Spaces for each level of indentation. */
export const indentWidth = 4;

interface Item {
  readonly document: Document;
  readonly indent: number;
  readonly breaks: boolean;
}

/** The rendered document. */
export interface Rendered {
  readonly text: string;
  /** Comments at the end of the last line. All but the first get their own lines. */
  readonly endComments: readonly string[];
}

/**
 * Renders `document` from column `indent` on.
 *
 * @returns `undefined` if the text would exceed `maxLength`.
 */
export function render(document: Document, indent: number, maxLength: number): Rendered | undefined {
  const stack: Item[] = [{ document, indent, breaks: true }];
  let text = "";
  let column = indent;
  let comments: string[] = [];

  function newLine(target: number, blank: boolean, closes: boolean): void {
    // They precede the next element, or the end of the bracket.
    const own = " ".repeat(closes ? target + indentWidth : target);
    comments.forEach((comment, index) => {
      text += index === 0 ? `  ${comment}` : `\n${own}${comment}`;
    });
    comments = [];
    text += `${blank ? "\n\n" : "\n"}${" ".repeat(target)}`;
    column = target;
  }

  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { document: part, indent: level, breaks } = item;
    if (typeof part === "string") {
      text += part;
      const lineStart = part.lastIndexOf("\n");
      column = lineStart === -1 ? column + part.length : part.length - lineStart - 1;
      if (text.length > maxLength) return undefined;
      continue;
    }
    switch (part.kind) {
      case "sequence":
        for (let index = part.parts.length - 1; index >= 0; index -= 1) {
          stack.push({ document: part.parts[index]!, indent: level, breaks });
        }
        break;
      case "indentation":
        stack.push({ document: part.content, indent: level + indentWidth, breaks });
        break;
      case "group": {
        const isFlat = !breaks || (!part.isBroken && fits(part.content, stack, lineWidth - column));
        stack.push({ document: part.content, indent: level, breaks: !isFlat });
        break;
      }
      case "break":
        if (breaks) newLine(level, part.blank, part.closes);
        else {
          text += part.flat;
          column += part.flat.length;
        }
        break;
      case "lastComma":
        if (breaks) {
          text += ",";
          column += 1;
        }
        break;
      case "endComment":
        comments.push(part.text);
    }
    if (text.length > maxLength) return undefined;
  }
  return { text, endComments: comments };
}

/** A list of documents and a position in it, or a single document. */
interface Walk {
  readonly parts: readonly Document[];
  next: number;
  readonly breaks: boolean;
}

/**
 * Whether `document` fits within `width` columns on one line, together with the text
 * that follows it up to the next possible break.
 */
function fits(document: Document, rest: readonly Item[], width: number): boolean {
  let left = width;
  let restAt = rest.length;
  const walks: Walk[] = [{ parts: [document], next: 0, breaks: false }];
  while (left >= 0) {
    const walk = walks.at(-1);
    if (walk === undefined) {
      restAt -= 1;
      const item = rest[restAt];
      if (item === undefined) return true;
      walks.push({ parts: [item.document], next: 0, breaks: item.breaks });
      continue;
    }
    const part = walk.parts[walk.next];
    if (part === undefined) {
      walks.pop();
      continue;
    }
    walk.next += 1;
    if (typeof part === "string") {
      const firstEnd = part.indexOf("\n");
      if (firstEnd !== -1) {
        // The lines of a multi-line literal cannot be broken.
        if (firstEnd > left) return false;
        left = lineWidth - (part.length - part.lastIndexOf("\n") - 1);
      } else left -= part.length;
    } else if (part.kind === "sequence") {
      walks.push({ parts: part.parts, next: 0, breaks: walk.breaks });
    } else if (part.kind === "group" || part.kind === "indentation") {
      walks.push({ parts: [part.content], next: 0, breaks: walk.breaks });
    } else if (part.kind === "break") {
      if (walk.breaks) return true;
      left -= part.flat.length;
    } else if (part.kind === "lastComma" && walk.breaks) left -= 1;
  }
  return false;
}
