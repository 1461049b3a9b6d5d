/** Edits YAML: the entry of a server is added after the last one of its section, and removed with its own lines. */

import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { byteOrderMark, lineEndingOf, type ServerPlace, shapeError, syntaxError } from "./server-place.ts";

/** Returns `text` with the server. */
export function addToYaml(text: string, place: ServerPlace, entry: JsonObject): string {
  const cleared = removeFromYaml(text, place);
  const section = sectionOf(cleared, place);
  const newline = lineEndingOf(cleared);
  if (section === undefined) {
    const gap = cleared === "" || cleared.endsWith("\n") ? "" : newline;
    return cleared + gap + toLines({ [place.section]: wrapped(place, entry) }, "", newline);
  }
  const { items } = section;
  const last = items.at(-1);
  if (section.flow === true && last !== undefined) {
    throw shapeError(`"${place.section}" is written on one line, which cannot be extended`);
  }
  if (last === undefined) return intoEmpty(cleared, place, entry, section, newline);
  const first = startOf(items[0] as Node | Pair<Node, Node | null>);
  const at = cleared.lastIndexOf("\n", first - 1) + 1;
  // Of a list, the places begin after the dash.
  const indentation = /^ */.exec(cleared.slice(at))?.[0] ?? "";
  const end = endOfLines(cleared, endOf(last as Node | Pair<Node, Node | null>));
  const gap = cleared.slice(0, end).endsWith("\n") ? "" : newline;
  return (
    cleared.slice(0, end) + gap + toLines(wrapped(place, entry), indentation, newline) + cleared.slice(end)
  );
}

/** Returns `text` without the server. */
export function removeFromYaml(text: string, place: ServerPlace): string {
  const section = sectionOf(text, place);
  const item = section && itemOf(section, place);
  if (section === undefined || item === undefined) return text;
  if (section.flow === true) throw shapeError(`"${place.section}" is written on one line`);
  const start = text.lastIndexOf("\n", startOf(item) - 1) + 1;
  const end = endOfLines(text, endOf(item));
  const isOnly = section.items.length === 1;
  if (!isOnly) return text.slice(0, start) + text.slice(end);
  // A section without entries is written as an empty one, before the comments that follow its name.
  const colon = text.indexOf(":", rangeOf(pairOf(text, place)?.key as Node)[1]) + 1;
  const empty = isSeq(section) ? " []" : " {}";
  return text.slice(0, colon) + empty + text.slice(colon, start) + text.slice(end);
}

/** Returns `text` without the section, where it is empty and alone on its line. */
export function removeEmptyFromYaml(text: string, place: ServerPlace): string {
  const pair = pairOf(text, place);
  if (pair === undefined || sectionOf(text, place)?.items.length !== 0) return text;
  const start = startOf(pair);
  const stop = endOf(pair);
  const end = endOfLines(text, stop);
  const indentation = text.slice(text.lastIndexOf("\n", start - 1) + 1, start).replace(byteOrderMark, "");
  return indentation + text.slice(stop, end).trim() === "" ? text.slice(0, start) + text.slice(end) : text;
}

/** Returns the server. */
export function readFromYaml(text: string, place: ServerPlace): JsonObject | undefined {
  const section = sectionOf(text, place);
  const item = section && itemOf(section, place);
  const node = item !== undefined && "value" in item && !isScalar(item) ? item.value : item;
  const value: unknown = isMap(node) ? node.toJSON() : undefined;
  return isJsonObject(value as never) ? (value as JsonObject) : undefined;
}

type Section = YAMLMap<Node, Node | null> | YAMLSeq<Node>;
type Item = Pair<Node, Node | null> | Node;

/** Returns everything in the file. @throws {ClientsError} */
export function dataOfYaml(text: string): unknown {
  try {
    return documentOf(text).toJS();
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw shapeError("The file has too many aliases");
  }
}

function documentOf(text: string): Document {
  const document: Document = parseDocument(text, { version: "1.2", schema: "core" });
  const [error] = document.errors;
  if (error !== undefined)
    throw syntaxError(text, error.pos[0], error.message.split("\n", 1)[0] ?? "", "YAML");
  return document;
}

function pairOf(text: string, { section }: ServerPlace): Pair<Node, Node | null> | undefined {
  const root: unknown = documentOf(text).contents;
  if (root === null) return undefined;
  if (!isMap<Node, Node | null>(root) || root.flow === true) {
    throw shapeError("The file contains no map over several lines");
  }
  return root.items.find(({ key }) => isScalar(key) && key.value === section);
}

function sectionOf(text: string, place: ServerPlace): Section | undefined {
  const pair = pairOf(text, place);
  if (pair === undefined) return undefined;
  const { section, isList } = place;
  const { value } = pair;
  if (isList && isSeq<Node>(value)) return value;
  if (!isList && isMap<Node, Node | null>(value)) return value;
  throw shapeError(`"${section}" in the file is no ${isList ? "list" : "map"}`);
}

function itemOf(section: Section, { name, section: sectionName }: ServerPlace): Item | undefined {
  if (isSeq<Node>(section)) {
    const named = section.items.filter((item) => isMap(item) && item.get("name") === name);
    if (named.length > 1) throw shapeError(`"${sectionName}" has "${name}" more than once`);
    return named[0];
  }
  return section.items.find(({ key }) => isScalar(key) && key.value === name);
}

/** Writes the entry into a section that has none, which is written as `{}` or `[]`. */
function intoEmpty(
  text: string,
  place: ServerPlace,
  entry: JsonObject,
  section: Section,
  newline: string,
): string {
  const [start, end] = section.range ?? [0, 0];
  if (!/^(?:\{\s*\}|\[\s*\])$/.test(text.slice(start, end).trim())) {
    throw shapeError(`"${place.section}" in the file is written in a form that cannot be extended`);
  }
  const lineEnd = endOfLines(text, end);
  const rest = text.slice(end, lineEnd).replace(/\r?\n$/, "");
  const head = `${text.slice(0, start).trimEnd()}${rest}${newline}`;
  return head + toLines(wrapped(place, entry), "  ", newline) + text.slice(lineEnd);
}

function wrapped({ name, isList }: ServerPlace, entry: JsonObject): object {
  return isList ? [{ name, ...entry }] : { [name]: entry };
}

function toLines(value: object, indentation: string, newline: string): string {
  const lines = stringify(value, { lineWidth: 0 }).trimEnd().split("\n");
  return lines.map((line) => `${indentation}${line}${newline}`).join("");
}

function startOf(item: Item): number {
  return rangeOf("key" in item && !isScalar(item) ? (item.key as Node) : (item as Node))[0];
}

/** The end of the value of an item, without comments after it. */
function endOf(item: Item): number {
  if (!("key" in item) || isScalar(item)) return rangeOf(item as Node)[1];
  return item.value === null ? rangeOf(item.key as Node)[1] : rangeOf(item.value)[1];
}

function rangeOf(node: Node): readonly [number, number] {
  const { range } = node as { readonly range?: readonly [number, number, number] | null };
  return [range?.[0] ?? 0, range?.[1] ?? 0];
}

/** The start of the line after `at`; `at` itself at the start of a line. */
function endOfLines(text: string, at: number): number {
  if (text[at - 1] === "\n") return at;
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}
