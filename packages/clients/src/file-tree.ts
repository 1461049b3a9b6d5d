/**
 * A client's file as a tree with the place of each value, from JSON with comments, TOML, YAML or the XML of an IDE. A text that is not
 * readable, too large or too deep is a `ClientsError` with its place. Pure.
 */

import {
  type ParseError as JsonError,
  type Node as JsonNode,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { type Document, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from "yaml";
import { ClientsError } from "./clients-error.ts";
import type { FileMember, FileNode } from "./file-node.ts";
import { fromJetBrainsSettings } from "./jetbrains-settings.ts";
import { byteOrderMark, syntaxError } from "./server-place.ts";

/** Deepest nesting. */
const maxDepth = 100;
/** Most values of a YAML file after its aliases are followed. */
const maxNodes = 100_000;

/** Returns the tree of a text; undefined for an empty one. @throws {ClientsError} */
export function parseFile(text: string, format: "json" | "toml" | "yaml" | "xml"): FileNode | undefined {
  // The mark becomes a space, so that places stay. In YAML a space would indent the first line, and its parser knows the mark.
  const isMarked = text.startsWith(byteOrderMark) && format !== "yaml";
  const readable = isMarked ? ` ${text.slice(1)}` : text;
  if (readable.trim() === "") return undefined;
  try {
    return { json: fromJson, toml: fromToml, yaml: fromYaml, xml: fromJetBrainsSettings }[format](readable);
  } catch (error) {
    // The parsers are recursive.
    if (error instanceof RangeError)
      throw syntaxError(readable, 0, "values are nested too deeply", format.toUpperCase());
    throw error;
  }
}

function fromJson(text: string): FileNode {
  const errors: JsonError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [error] = errors;
  if (error !== undefined || root === undefined) {
    throw syntaxError(text, error?.offset ?? 0, reasonOf(error), "JSON");
  }
  const convert = (node: JsonNode, depth: number): FileNode => {
    if (depth > maxDepth) throw syntaxError(text, node.offset, "values are nested too deeply", "JSON");
    const at = node.offset;
    if (node.type === "array") {
      return { kind: "list", at, items: (node.children ?? []).map((child) => convert(child, depth + 1)) };
    }
    if (node.type !== "object") return { kind: "scalar", at, value: node.value as string };
    const members = (node.children ?? []).flatMap(({ children }): FileMember[] => {
      const [key, value] = children ?? [];
      if (key === undefined || value === undefined) return [];
      return [{ key: String(key.value), at: key.offset, value: convert(value, depth + 1) }];
    });
    return { kind: "map", at, members };
  };
  return convert(root, 0);
}

function reasonOf(error: JsonError | undefined): string {
  if (error === undefined) return "it contains no value";
  const words = printParseErrorCode(error.error).replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.toLowerCase();
}

function fromToml(text: string): FileNode {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text);
  } catch (error) {
    if (error instanceof ParseError) throw syntaxError(text, error.index, error.message, "TOML");
    throw error;
  }
  const root: MutableMap = { kind: "map", at: 0, members: [] };
  const [top] = program.body;
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") addPair(root, node);
    else {
      const table = tableAt(root, node);
      for (const pair of node.body) addPair(table, pair);
    }
  }
  return root;
}

interface MutableMap {
  readonly kind: "map";
  readonly at: number;
  readonly members: FileMember[];
}

/** Finds the maps in a map by their names, each without looking through all of its members. */
const mapsIn = new WeakMap<MutableMap, Map<string, MutableMap>>();

/** Returns the first map called `key`; a new one where there is none. */
function mapIn(map: MutableMap, key: string, at: number): MutableMap {
  const maps = mapsIn.get(map) ?? new Map<string, MutableMap>();
  mapsIn.set(map, maps);
  const known = maps.get(key);
  if (known !== undefined) return known;
  const next: MutableMap = { kind: "map", at, members: [] };
  maps.set(key, next);
  map.members.push({ key, at, value: next });
  return next;
}

function tableAt(root: MutableMap, node: AST.TOMLTable): MutableMap {
  let map = root;
  // An index belongs to an array of tables, which no server is in.
  for (const part of node.resolvedKey) map = mapIn(map, String(part), node.range[0]);
  return map;
}

function addPair(map: MutableMap, pair: AST.TOMLKeyValue): void {
  const keys = pair.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
  let target = map;
  for (const key of keys.slice(0, -1)) target = mapIn(target, key, pair.range[0]);
  target.members.push({ key: keys.at(-1) ?? "", at: pair.range[0], value: tomlNode(pair.value) });
}

function tomlNode(node: AST.TOMLContentNode): FileNode {
  const at = node.range[0];
  if (node.type === "TOMLArray") return { kind: "list", at, items: node.elements.map(tomlNode) };
  if (node.type === "TOMLInlineTable") {
    const map: MutableMap = { kind: "map", at, members: [] };
    for (const pair of node.body) addPair(map, pair);
    return map;
  }
  const { value } = node;
  const plain = typeof value === "object" || typeof value === "bigint" ? String(value) : value;
  return { kind: "scalar", at, value: plain };
}

function fromYaml(text: string): FileNode {
  const document: Document = parseDocument(text, { version: "1.2", schema: "core" });
  const [error] = document.errors;
  if (error !== undefined) {
    throw syntaxError(text, error.pos[0], error.message.split("\n", 1)[0] ?? "", "YAML");
  }
  let count = 0;
  // An alias means the last anchor of its name before it.
  const anchors = new Map<string, unknown>();
  const convert = (node: unknown, depth: number, from: number): FileNode => {
    count += 1;
    const at = (node as { readonly range?: readonly number[] | null } | null)?.range?.[0] ?? from;
    if (depth > maxDepth || count > maxNodes) {
      throw syntaxError(text, at, "values are nested too deeply", "YAML");
    }
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined)
        throw syntaxError(text, at, `the alias *${node.source} has no anchor`, "YAML");
      return convert(target, depth + 1, at);
    }
    const { anchor } = (node ?? {}) as { readonly anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node);
    if (isSeq(node))
      return { kind: "list", at, items: node.items.map((item) => convert(item, depth + 1, at)) };
    if (!isMap(node)) return { kind: "scalar", at, value: isScalar(node) ? scalarOf(node.value) : null };
    const members = node.items.flatMap((pair): FileMember[] => {
      if (!isPair(pair)) return [];
      const keyAt = (pair.key as { readonly range?: readonly number[] | null } | null)?.range?.[0] ?? at;
      const key = isScalar(pair.key) ? String(pair.key.value) : "";
      return [{ key, at: keyAt, value: convert(pair.value, depth + 1, keyAt) }];
    });
    return { kind: "map", at, members };
  };
  return convert(document.contents, 0, 0);
}

function scalarOf(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  return String(value);
}

/** Returns the value of the last member of this name, which is the one that programs use. */
export function memberOf(node: FileNode | undefined, ...path: readonly string[]): FileNode | undefined {
  let found = node;
  for (const key of path) {
    found = found?.kind === "map" ? found.members.findLast((member) => member.key === key)?.value : undefined;
  }
  return found;
}

/** Returns the text of a scalar: a string, or a number as text. */
export function textOf(node: FileNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.value === null) return undefined;
  return typeof node.value === "string" ? node.value : String(node.value);
}

/** A place, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Returns the function that finds the place of an offset; the text is looked through once. */
export function placesIn(text: string): (offset: number) => TextPlace {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const found = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) found.push(at + 1);
  return found;
}

/** Reports that a text is too large. @throws {ClientsError} */
export function refuseLarge(length: number, max: number): void {
  if (length <= max) return;
  throw new ClientsError(
    "CLIENTS_FILE_TOO_LARGE",
    `The file has ${length} characters; at most ${max} are read`,
    {
      hint: "remove from it what is no configuration",
    },
  );
}
