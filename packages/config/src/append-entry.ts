/**
 * Adds an entry of `toolspecs` or `tool_servers` to the text of a configuration, after the
 * existing entries. Every existing byte stays: comments, order, formatting. A
 * section in a form that cannot be extended this way is left to its author.
 * Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from "yaml";

/** A section that is a list of entries. */
export type EntrySection = "toolspecs" | "tool_servers";

/** Entries in their order, at least one. */
type Entries = readonly JsonObject[];

/** Returns `text` with `entries` as the last ones of `section`; `undefined` when the author has to add them by hand. */
export function appendEntry(text: string, section: EntrySection, ...entries: Entries): string | undefined {
  const document = parseDocument(text, { version: "1.2", schema: "core", keepSourceTokens: true });
  if (document.errors.length > 0) return undefined;
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const root: unknown = document.contents;
  if (root === null) return appendSection(text, section, entries, newline);
  if (!isMap<Node, Node | null>(root)) return undefined;
  const found = root.items.find(({ key }) => isScalar(key) && key.value === section);
  if (root.flow === true) return appendToFlowRoot(text, root, { name: section, found }, entries);
  if (found === undefined) return appendSection(text, section, entries, newline);
  return appendToSection(text, found, entries, newline);
}

/** Returns `entry` as a YAML list item, without the section around it. */
export function entryText(entry: JsonObject): string {
  return blockLines(entry, "").join("\n");
}

type Section = Pair<Node, Node | null>;

function appendSection(
  text: string,
  name: EntrySection,
  entries: Entries,
  newline: string,
): string | undefined {
  // A marker of a document end starts another document.
  if (/^(?:\.\.\.|---)/m.test(text.replace(/^---[^\n]*\n/, ""))) return undefined;
  const body = text.trimEnd();
  const before = body === "" ? "" : `${body}${newline}${newline}`;
  return `${before}${[`${name}:`, ...blocksOf(entries, "  ")].join(newline)}${newline}`;
}

function appendToSection(
  text: string,
  section: Section,
  entries: Entries,
  newline: string,
): string | undefined {
  const { key, value } = section;
  if (value === null || (isScalar(value) && value.value === null)) {
    return insertAfterLine(text, endOf(key), blocksOf(entries, "  "), newline);
  }
  if (!isSeq<Node>(value) || value.anchor !== undefined) return undefined;
  const [start, end] = value.range ?? [0, 0];
  const last = value.items.at(-1);
  if (value.flow === true) {
    if (last !== undefined)
      return `${text.slice(0, endOf(last))}, ${flowText(entries)}${text.slice(endOf(last))}`;
    const without = `${text.slice(0, start).trimEnd()}${text.slice(end)}`;
    return insertAfterLine(without, endOf(key), blocksOf(entries, "  "), newline);
  }
  const [first] = value.items;
  const dash =
    first?.range === undefined || first.range === null ? -1 : text.lastIndexOf("-", first.range[0]);
  if (last === undefined || dash === -1) return undefined;
  const indentation = text.slice(text.lastIndexOf("\n", dash) + 1, dash);
  if (indentation.trim() !== "") return undefined;
  return insertAfterLine(text, endOf(last), blocksOf(entries, indentation), newline);
}

function appendToFlowRoot(
  text: string,
  root: { readonly range?: Node["range"]; readonly items: readonly Section[] },
  { name, found: section }: { readonly name: EntrySection; readonly found: Section | undefined },
  entries: Entries,
): string | undefined {
  if (section === undefined) {
    const last = root.items.at(-1);
    const at = last === undefined ? (root.range?.[0] ?? 0) + 1 : endOf(last.value ?? last.key);
    const comma = last === undefined ? "" : ",";
    return `${text.slice(0, at)}${comma}\n  "${name}": [${flowText(entries)}]${text.slice(at)}`;
  }
  const { value } = section;
  if (!isSeq<Node>(value)) return undefined;
  const last = value.items.at(-1);
  const at = last === undefined ? (value.range?.[0] ?? 0) + 1 : endOf(last);
  return `${text.slice(0, at)}${last === undefined ? "" : ", "}${flowText(entries)}${text.slice(at)}`;
}

/** Returns the position at which the text of `node` ends, before any comment. */
function endOf(node: Node): number {
  return node.range?.[1] ?? 0;
}

/** Returns `text` with `lines` inserted after the line of the character before `at`. */
function insertAfterLine(text: string, at: number, lines: readonly string[], newline: string): string {
  // A block may end with its line break, or before it.
  const inside = text.slice(0, at).trimEnd().length;
  const found = text.indexOf("\n", inside);
  const lineEnd = found === -1 ? text.length : text[found - 1] === "\r" ? found - 1 : found;
  return `${text.slice(0, lineEnd)}${newline}${lines.join(newline)}${found === -1 ? newline : text.slice(lineEnd)}`;
}

/** Members that are blocks of lines and not one line. */
const blocks: ReadonlySet<string> = new Set(["credentials", "transport", "env", "headers", "containment"]);

function blocksOf(entries: Entries, indentation: string): string[] {
  return entries.flatMap((entry) => blockLines(entry, indentation));
}

function flowText(entries: Entries): string {
  return entries.map(quotedText).join(", ");
}

/** Returns `entry` as an item of a block list: one line for each field, and blocks for some maps. */
function blockLines(entry: JsonObject, indentation: string): string[] {
  return mapLines(entry).map((line, at) => `${indentation}${at === 0 ? "- " : "  "}${line}`);
}

function mapLines(map: JsonObject): string[] {
  return Object.entries(map).flatMap(([name, value]) => {
    const isBlock = typeof value === "object" && value !== null && !Array.isArray(value) && blocks.has(name);
    if (!isBlock) return `${inline(name)}: ${inline(value)}`;
    return [`${inline(name)}:`, ...mapLines(value as JsonObject).map((line) => `  ${line}`)];
  });
}

function inline(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, one]) => `${inline(key)}: ${inline(one)}`)
      .join(", ")} }`;
  }
  const isPlain =
    typeof value === "string" &&
    /^[A-Za-z_./][A-Za-z0-9_./-]*$/.test(value) &&
    !/^(?:null|true|false|yes|no|on|off|y|n|\.+|\.(?:\d.*|inf|nan))$/i.test(value);
  return isPlain || (typeof value === "string" && /^\d+\.\d+\.\d+$/.test(value)) ? value : quotedText(value);
}

/** Returns `value` in quotes. Characters that editors and terminals do not show, or that change the order of others, are escaped. */
function quotedText(value: JsonValue | undefined): string {
  return (JSON.stringify(value) ?? "null").replace(
    /[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
