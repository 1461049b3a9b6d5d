/**
 * Adds an entry of `toolspecs` or `tool_servers` to the text of a configuration,
 * after the existing entries. Every existing byte stays: comments, order, formatting. A
 * section in a form that cannot be extended this way is left to its author.
 * Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from "yaml";

/** A list of entries of a configuration. */
export type EntryList = "toolspecs" | "tool_servers";

/** Returns `text` with `entry` as the last one of its list; `undefined` when the author has to add it by hand. */
export function appendConfigEntry(text: string, list: EntryList, entry: JsonObject): string | undefined {
  const document = parseDocument(text, { version: "1.2", schema: "core", keepSourceTokens: true });
  if (document.errors.length > 0) return undefined;
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const root: unknown = document.contents;
  if (root === null) return appendSection(text, list, entry, newline);
  if (!isMap<Node, Node | null>(root)) return undefined;
  const section = root.items.find(({ key }) => isScalar(key) && key.value === list);
  if (root.flow === true) return appendToFlowRoot(text, root, section, { list, entry });
  if (section === undefined) return appendSection(text, list, entry, newline);
  return appendToSection(text, section, entry, newline);
}

/** Returns `entry` as a YAML list item, without the section around it. */
export function configEntryText(entry: JsonObject): string {
  return blockLines(entry, "").join("\n");
}

type Section = Pair<Node, Node | null>;

function appendSection(
  text: string,
  list: EntryList,
  entry: JsonObject,
  newline: string,
): string | undefined {
  // A marker of a document end starts another document.
  if (/^(?:\.\.\.|---)/m.test(text.replace(/^---[^\n]*\n/, ""))) return undefined;
  const body = text.trimEnd();
  const before = body === "" ? "" : `${body}${newline}${newline}`;
  return `${before}${[`${list}:`, ...blockLines(entry, "  ")].join(newline)}${newline}`;
}

function appendToSection(
  text: string,
  section: Section,
  entry: JsonObject,
  newline: string,
): string | undefined {
  const { key, value } = section;
  if (value === null || (isScalar(value) && value.value === null)) {
    return insertAfterLine(text, endOf(key), blockLines(entry, "  "), newline);
  }
  if (!isSeq<Node>(value) || value.anchor !== undefined) return undefined;
  const [start, end] = value.range ?? [0, 0];
  const last = value.items.at(-1);
  if (value.flow === true) {
    if (last !== undefined)
      return `${text.slice(0, endOf(last))}, ${JSON.stringify(entry)}${text.slice(endOf(last))}`;
    const without = `${text.slice(0, start).trimEnd()}${text.slice(end)}`;
    return insertAfterLine(without, endOf(key), blockLines(entry, "  "), newline);
  }
  const [first] = value.items;
  const dash =
    first?.range === undefined || first.range === null ? -1 : text.lastIndexOf("-", first.range[0]);
  if (last === undefined || dash === -1) return undefined;
  const indentation = text.slice(text.lastIndexOf("\n", dash) + 1, dash);
  if (indentation.trim() !== "") return undefined;
  return insertAfterLine(text, endOf(last), blockLines(entry, indentation), newline);
}

function appendToFlowRoot(
  text: string,
  root: { readonly range?: Node["range"]; readonly items: readonly Section[] },
  section: Section | undefined,
  { list, entry }: { readonly list: EntryList; readonly entry: JsonObject },
): string | undefined {
  if (section === undefined) {
    const last = root.items.at(-1);
    const at = last === undefined ? (root.range?.[0] ?? 0) + 1 : endOf(last.value ?? last.key);
    const comma = last === undefined ? "" : ",";
    return `${text.slice(0, at)}${comma}\n  "${list}": [${JSON.stringify(entry)}]${text.slice(at)}`;
  }
  const { value } = section;
  if (!isSeq<Node>(value)) return undefined;
  const last = value.items.at(-1);
  const at = last === undefined ? (value.range?.[0] ?? 0) + 1 : endOf(last);
  return `${text.slice(0, at)}${last === undefined ? "" : ", "}${JSON.stringify(entry)}${text.slice(at)}`;
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

/** Returns `entry` as an item of a block list: one line for each field, `credentials` as a block. */
function blockLines(entry: JsonObject, indentation: string): string[] {
  const lines = Object.entries(entry).flatMap(([name, value]) => {
    const isBlock =
      typeof value === "object" && value !== null && !Array.isArray(value) && name === "credentials";
    if (!isBlock) return `${name}: ${inline(value)}`;
    return [
      `${name}:`,
      ...Object.entries(value as JsonObject).map(([key, one]) => `  ${key}: ${inline(one)}`),
    ];
  });
  return lines.map((line, at) => `${indentation}${at === 0 ? "- " : "  "}${line}`);
}

function inline(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, one]) => `${key}: ${inline(one)}`)
      .join(", ")} }`;
  }
  const isPlain =
    typeof value === "string" &&
    /^[A-Za-z_./][A-Za-z0-9_./-]*$/.test(value) &&
    !/^(?:null|true|false|yes|no|on|off|y|n|\.+)$/i.test(value);
  return isPlain || (typeof value === "string" && /^\d+\.\d+\.\d+$/.test(value))
    ? value
    : JSON.stringify(value);
}
