/**
 * Changes the tool list in the text of a manifest to the tools that its upstream
 * server really has (document 000, tier 1). Only lines of tools that are added or
 * removed change: comments, order and layout of everything else stay. Pure.
 */

import { type DocumentNode, entryOf, fieldOf, itemsOf, stringOf } from "@toolcrib/document";
import { manifestKind } from "../manifest/manifest-shape.ts";
import { openSource } from "../open-source.ts";

/**
 * Returns `text`, a manifest, with `digest` as its `image.digest`.
 *
 * @param digest SHA-256 in hexadecimal digits
 * @returns undefined when the text has no digest.
 */
export function withDigest(text: string, digest: string): string | undefined {
  const { tree } = openSource({ name: "", text }, manifestKind);
  const node = fieldOf(fieldOf(tree, "image"), "digest");
  const known = stringOf(node);
  if (node === undefined || known === undefined) return undefined;
  // Quotes stay.
  const { start, end } = node.span;
  const written = text.slice(start, end).replace(known, `sha256:${digest}`);
  return `${text.slice(0, start)}${written}${text.slice(end)}`;
}

/** The differences between a manifest and its server. */
export interface ToolDifferences {
  /** Tools that the manifest names and the server does not have. */
  readonly missing: readonly string[];
  /** Tools that the server has and the manifest does not name. */
  readonly undeclared: readonly string[];
}

/** Compares the tools that a manifest names with those that its server has. Both lists are sorted. */
export function compareTools(declared: readonly string[], real: readonly string[]): ToolDifferences {
  const [known, present] = [new Set(declared), new Set(real)];
  return {
    missing: [...known].filter((name) => !present.has(name)).sort(),
    undeclared: [...present].filter((name) => !known.has(name)).sort(),
  };
}

/**
 * Returns `text`, a manifest in YAML, without the tools of `missing` and with those of `undeclared` at the end of its
 * list, each with `default: false`: an operator has not looked at them.
 *
 * @returns undefined when the list is written in a form that is left to its author: in JSON, with anchors, or on one line.
 */
export function rewriteTools(text: string, { missing, undeclared }: ToolDifferences): string | undefined {
  const { tree } = openSource({ name: "", text }, manifestKind);
  const entry = entryOf(tree, "tools");
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  if (tree?.kind !== "map" || text.trimStart().startsWith("{")) return undefined;
  const items = itemsOf(tree, "tools");
  const indentation = items.length === 0 ? "  " : indentationOf(text, items);
  if (indentation === undefined) return undefined;
  const added = undeclared.map((name) => `${indentation}- {name: ${scalarOf(name)}, default: false}`);
  const changed =
    items.length === 0
      ? withNewList(text, entry, added, newline)
      : withChangedList(text, items, { missing: new Set(missing), added, newline });
  return changed !== undefined && hasTools(changed, items, { missing, undeclared }) ? changed : undefined;
}

/** Returns the indentation of the dashes of a list; undefined where an item shares its line with another. */
function indentationOf(text: string, items: readonly DocumentNode[]): string | undefined {
  const indentations = items.map((item) => {
    const before = text.slice(lineStart(text, item.span.start), item.span.start);
    return /^([ ]*)-[ ]+$/.exec(before)?.[1];
  });
  const [first] = indentations;
  return indentations.every((one) => one !== undefined && one === first) ? first : undefined;
}

function withNewList(
  text: string,
  entry: ReturnType<typeof entryOf>,
  added: readonly string[],
  newline: string,
): string | undefined {
  if (added.length === 0) return text;
  const lines = ["tools:", ...added].join(newline);
  if (entry === undefined) return `${text.trimEnd()}${newline}${lines}${newline}`;
  // An empty list, or no value at all: its line is replaced.
  const start = lineStart(text, entry.keySpan.start);
  const end = lineEnd(text, Math.max(entry.value.span.end - 1, entry.keySpan.end));
  if (start !== entry.keySpan.start || !/^tools:\s*(?:\[\s*\]\s*)?$/.test(text.slice(start, end)))
    return undefined;
  return `${text.slice(0, start)}${lines}${text.slice(end)}`;
}

function withChangedList(
  text: string,
  items: readonly DocumentNode[],
  {
    missing,
    added,
    newline,
  }: { readonly missing: ReadonlySet<string>; readonly added: readonly string[]; readonly newline: string },
): string | undefined {
  const isGone = (item: DocumentNode) => missing.has(stringOf(fieldOf(item, "name")) ?? "");
  const last = items.at(-1);
  if (last === undefined) return undefined;
  const isEmpty = items.every(isGone) && added.length === 0;
  const place = lineStart(text, items[0]?.span.start ?? 0);
  let result = text;
  // From the end, so that the places before stay.
  for (const item of items.toReversed()) {
    const start = lineStart(result, item.span.start);
    const end = lineEnd(result, lastCharacter(result, item));
    const own = isGone(item) ? [] : [result.slice(start, end)];
    const lines = item === last ? [...own, ...added] : own;
    const next = result.startsWith("\r\n", end) ? end + 2 : Math.min(end + 1, result.length);
    result =
      lines.length === 0
        ? result.slice(0, start) + result.slice(next)
        : replaced(result, start, end, lines, newline);
  }
  return isEmpty ? withEmptyList(result, place) : result;
}

function replaced(
  text: string,
  start: number,
  end: number,
  lines: readonly string[],
  newline: string,
): string {
  return `${text.slice(0, start)}${lines.join(newline)}${text.slice(end)}`;
}

/** Writes `[]` where every item was removed. */
function withEmptyList(text: string, place: number): string | undefined {
  const before = text.slice(0, place);
  const key = before.lastIndexOf("tools:");
  return key === -1
    ? undefined
    : `${before.slice(0, key)}tools: []${before.slice(key + "tools:".length)}${text.slice(place)}`;
}

/** The last character of an item; a block map can end with its line break, or before a comment. */
function lastCharacter(text: string, { span }: DocumentNode): number {
  return Math.max(span.start, text.slice(0, span.end).trimEnd().length - 1);
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  if (found === -1) return text.length;
  return text[found - 1] === "\r" ? found - 1 : found;
}

/** A name of a tool as YAML reads it as a text. */
function scalarOf(name: string): string {
  const isPlain =
    /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) && !/^(?:null|true|false|yes|no|on|off|y|n|~)$/i.test(name);
  return isPlain ? name : JSON.stringify(name);
}

/** Whether a changed text lists what it has to. */
function hasTools(text: string, before: readonly DocumentNode[], differences: ToolDifferences): boolean {
  const { tree } = openSource({ name: "", text }, manifestKind);
  const nameOf = (item: DocumentNode) => stringOf(fieldOf(item, "name")) ?? "";
  const wanted = [
    ...before.map(nameOf).filter((name) => !differences.missing.includes(name)),
    ...differences.undeclared,
  ];
  return JSON.stringify(itemsOf(tree, "tools").map(nameOf)) === JSON.stringify(wanted);
}
