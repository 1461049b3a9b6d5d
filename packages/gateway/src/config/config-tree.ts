/**
 * A configuration as a tree of values that know where they stand in the text,
 * the same for YAML and JSON. Data only: the two readers build it, shapes check
 * it. A node of an aliased value is shared, so a tree may be a graph; it never
 * has a cycle, and its expanded size and its depth are bounded.
 */

import type { Span } from "@toolcrib/diagnostics";

/** Longest configuration text, in bytes. */
export const configMaxBytes = 1024 * 1024;
/** Deepest nesting of a configuration. */
export const configMaxDepth = 64;
/** Most values of a configuration, aliases expanded. */
export const configMaxNodes = 100_000;

export type ConfigNode = ConfigMap | ConfigList | ConfigScalar;

export interface ConfigMap {
  readonly kind: "map";
  readonly span: Span;
  readonly entries: readonly ConfigEntry[];
}

export interface ConfigEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: ConfigNode;
}

export interface ConfigList {
  readonly kind: "list";
  readonly span: Span;
  readonly items: readonly ConfigNode[];
}

export interface ConfigScalar {
  readonly kind: "scalar";
  readonly span: Span;
  readonly value: string | number | boolean | null;
  /** A number or boolean as it is written (`1.10`); a string's value. */
  readonly text: string;
}

/** The value of field `key`, if `node` is a map that has it. */
export function fieldOf(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return entryOf(node, key)?.value;
}

/** Field `key` with its place, if `node` is a map that has it. */
export function entryOf(node: ConfigNode | undefined, key: string): ConfigEntry | undefined {
  return node?.kind === "map" ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** The node below `root` at a path of field names and list indexes. */
export function nodeAt(
  root: ConfigNode | undefined,
  path: readonly (string | number)[],
): ConfigNode | undefined {
  let node = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    if (typeof step === "string") node = fieldOf(node, step);
    else node = node.kind === "list" ? node.items[step] : undefined;
  }
  return node;
}

/** The text of a string scalar; `undefined` for everything else. */
export function stringOf(node: ConfigNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/** What people call the type of `node`. */
export function typeName(node: ConfigNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  if (node.value === null) return "empty";
  return { string: "a string", number: "a number", boolean: "a boolean" }[
    typeof node.value as "string" | "number" | "boolean"
  ];
}
