/**
 * A manifest or toolspec as a tree of values that know where they stand in the
 * text, the same for YAML and JSON. Data only: two readers build it, shapes
 * check it. An aliased value is shared; there is never a cycle.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";

/** Longest file, in bytes. */
export const documentMaxBytes = 1024 * 1024;
/** Deepest nesting. */
export const documentMaxDepth = 64;
/** Most values of a file, aliases expanded. */
export const documentMaxNodes = 100_000;

export type DocumentNode = MapNode | ListNode | ScalarNode;

export interface MapNode {
  readonly kind: "map";
  readonly span: Span;
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: DocumentNode;
}

export interface ListNode {
  readonly kind: "list";
  readonly span: Span;
  readonly items: readonly DocumentNode[];
}

export interface ScalarNode {
  readonly kind: "scalar";
  readonly span: Span;
  readonly value: string | number | boolean | null;
  /** A number or boolean as it is written (`1.10`); a string's value. */
  readonly text: string;
  /** Whether it stands without quotes in YAML, so that its look decides its type. */
  readonly isPlain: boolean;
}

/** The value of field `key`, if `node` is a map that has it. */
export function fieldOf(node: DocumentNode | undefined, key: string): DocumentNode | undefined {
  return entryOf(node, key)?.value;
}

/** Field `key` with its place, if `node` is a map that has it. */
export function entryOf(node: DocumentNode | undefined, key: string): MapEntry | undefined {
  return node?.kind === "map" ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** The items of field `key`, if `node` is a map that has a list there. */
export function itemsOf(node: DocumentNode | undefined, key: string): readonly DocumentNode[] {
  const value = fieldOf(node, key);
  return value?.kind === "list" ? value.items : [];
}

/** The text of a string; `undefined` for everything else. */
export function stringOf(node: DocumentNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/** What people call the type of `node`. */
export function typeName(node: DocumentNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  if (node.value === null) return "empty";
  return { string: "a string", number: "a number", boolean: "a boolean" }[
    typeof node.value as "string" | "number" | "boolean"
  ];
}

/** `node` as a JSON value. */
export function toJsonValue(node: DocumentNode): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toJsonValue);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, toJsonValue(value)]));
}
