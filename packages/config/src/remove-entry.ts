/**
 * Removes an entry of `toolspecs` or `tool_servers` from the text of a configuration. Every byte of the rest stays:
 * comments, order, formatting. With the entry go its own comments: those inside it, and the lines of comments directly
 * above it at its indentation. A notation in which the entry cannot be cut out is left to its author. Pure.
 */

import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from "yaml";
import type { EntrySection } from "./append-entry.ts";

/** The text without an entry, and what was taken out. */
export interface RemovedEntry {
  readonly text: string;
  readonly section: EntrySection;
  /** The lines of the entry with its comments. */
  readonly removed: string;
}

const sections: readonly EntrySection[] = ["tool_servers", "toolspecs"];

/** Removes the entry at `index` of `section`; `undefined` when the author has to remove it by hand. */
export function removeEntry(text: string, section: EntrySection, index: number): RemovedEntry | undefined {
  const document = parseDocument(text, { version: "1.2", schema: "core", keepSourceTokens: true });
  const root: unknown = document.contents;
  if (document.errors.length > 0 || !isMap<Node, Node | null>(root) || !sections.includes(section))
    return undefined;
  const found: Pair<Node, Node | null> | undefined = root.items.find(
    ({ key }) => isScalar(key) && key.value === section,
  );
  const list = found?.value;
  if (found === undefined || !isSeq<Node>(list) || list.anchor !== undefined) return undefined;
  const item = list.items[index];
  // Another entry can refer to an anchor of this one.
  if (item === undefined || /(?:^|[\s,[{])[&*][A-Za-z0-9]/.test(textOf(text, item))) return undefined;
  const cut = list.flow === true ? cutFlow(text, list.items, index) : cutBlock(text, list.items, index);
  if (cut === undefined) return undefined;
  const removed = text.slice(cut.start, cut.end);
  const rest = `${text.slice(0, cut.start)}${text.slice(cut.end)}`;
  if (list.flow === true || list.items.length > 1) return { text: rest, section, removed };
  // A key without a value is not a list.
  const at = text.indexOf(":", found.key.range?.[1] ?? 0) + 1;
  return { text: `${rest.slice(0, at)} []${rest.slice(at)}`, section, removed };
}

interface Cut {
  readonly start: number;
  readonly end: number;
}

function textOf(text: string, { range }: Node): string {
  return text.slice(range?.[0] ?? 0, range?.[1] ?? 0);
}

function cutFlow(text: string, items: readonly Node[], index: number): Cut | undefined {
  const [start, end] = items[index]?.range ?? [0, 0];
  const before = items[index - 1]?.range?.[1];
  const after = items[index + 1]?.range?.[0];
  const cut =
    before !== undefined
      ? { start: before, end }
      : after !== undefined
        ? { start, end: after }
        : { start, end };
  const around = `${text.slice(cut.start, start)}${text.slice(end, cut.end)}`;
  return /^[\s,]*$/.test(around) ? cut : undefined;
}

function cutBlock(text: string, items: readonly Node[], index: number): Cut | undefined {
  const [valueStart, valueEnd] = items[index]?.range ?? [0, 0];
  const dash = text.lastIndexOf("-", valueStart);
  const lineStart = text.lastIndexOf("\n", dash) + 1;
  const indentation = text.slice(lineStart, dash);
  // The entry is on the line of its section, or of another entry.
  if (dash === -1 || indentation.trim() !== "") return undefined;
  // A block may end with its line break, or before it.
  const inside = text.slice(0, valueEnd).trimEnd().length;
  let end = lineEndAfter(text, inside);
  // Comments that are indented deeper than the entry continue it.
  for (let line = lineAt(text, end); isDeeperComment(line, indentation); line = lineAt(text, end)) {
    end += line.length;
  }
  let start = lineStart;
  for (;;) {
    const lineAbove = text.slice(text.lastIndexOf("\n", start - 2) + 1, start);
    const isOwn = start > 0 && lineAbove.startsWith(`${indentation}#`);
    if (!isOwn) break;
    start -= lineAbove.length;
  }
  // A blank line above and one below become one.
  const isBlank = (line: string) => line !== "" && line.trim() === "";
  const above = text.slice(text.lastIndexOf("\n", start - 2) + 1, start);
  if (isBlank(above)) {
    const below = lineAt(text, end);
    if (isBlank(below) || below === "") start -= above.length;
  }
  return { start, end };
}

function isDeeperComment(line: string, indentation: string): boolean {
  return line.startsWith(`${indentation} `) && line.trimStart().startsWith("#");
}

/** The line that starts at `at`, with its line break. */
function lineAt(text: string, at: number): string {
  return text.slice(at, lineEndAfter(text, at));
}

/** The position after the next line break. */
function lineEndAfter(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found === -1 ? text.length : found + 1;
}
