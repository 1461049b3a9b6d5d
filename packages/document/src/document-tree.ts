/**
 * A document as a tree of values with their places in the text, the same for
 * YAML and JSON. Data only: readers build it, shapes check it. An aliased value
 * is shared, so that a tree can be a graph. It has no cycle, and its depth and
 * its size with all aliases expanded are bounded.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";

/** Longest text of a document that people write for Toolcrib, in bytes. */
export const documentMaxBytes = 1024 * 1024;
/** Deepest nesting of such a document. */
export const documentMaxDepth = 64;
/** Maximum number of values of such a document, aliases expanded. */
export const documentMaxNodes = 100_000;

/** A value of a document. */
export type DocumentNode = MapNode | ListNode | ScalarNode;

/** A map with unique keys. */
export interface MapNode {
  readonly kind: "map";
  readonly span: Span;
  readonly entries: readonly MapEntry[];
}

/** A field of a map. The place of its name includes quotes. */
export interface MapEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: DocumentNode;
}

/** A list. */
export interface ListNode {
  readonly kind: "list";
  readonly span: Span;
  readonly items: readonly DocumentNode[];
}

/** The value of a scalar. */
export type ScalarValue = string | number | boolean | null;

/** A text, a number, a boolean, or an empty value. */
export interface ScalarNode {
  readonly kind: "scalar";
  readonly span: Span;
  readonly value: ScalarValue;
  /** The source text of a number or boolean (`1.10`); the value of a string; empty for null. */
  readonly text: string;
  /** Whether the scalar has no quotes in YAML, so that its form decides its type. */
  readonly isPlain: boolean;
}

/** Returns the value of field `key`, if `node` is a map that has it. */
export function fieldOf(node: DocumentNode | undefined, key: string): DocumentNode | undefined {
  return entryOf(node, key)?.value;
}

/** Returns field `key` with its place, if `node` is a map that has it. */
export function entryOf(node: DocumentNode | undefined, key: string): MapEntry | undefined {
  return node?.kind === "map" ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** Returns the items of field `key`, if `node` is a map and the field is a list; otherwise none. */
export function itemsOf(node: DocumentNode | undefined, key: string): readonly DocumentNode[] {
  const value = fieldOf(node, key);
  return value?.kind === "list" ? value.items : [];
}

/** Returns the node at a path of field names and list indexes below `root`. */
export function nodeAt(
  root: DocumentNode | undefined,
  path: readonly (string | number)[],
): DocumentNode | undefined {
  let node = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    if (typeof step === "string") node = fieldOf(node, step);
    else node = node.kind === "list" ? node.items[step] : undefined;
  }
  return node;
}

/** Returns the value of a string; `undefined` for any other node. */
export function stringOf(node: DocumentNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/** Returns the name of the type of `node` for messages. */
export function typeName(node: DocumentNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  if (node.value === null) return "empty";
  return { string: "a string", number: "a number", boolean: "a boolean" }[
    typeof node.value as "string" | "number" | "boolean"
  ];
}

/** Converts `node` to a JSON value. */
export function toJsonValue(node: DocumentNode): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toJsonValue);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, toJsonValue(value)]));
}
