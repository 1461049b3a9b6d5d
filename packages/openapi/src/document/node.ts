/**
 * An OpenAPI document as a tree. Scalars are plain values, maps keep the order of
 * their fields and accept any field name, and every map and list stores the offset
 * of each of its parts. Compact, because documents can have ten megabytes. A YAML
 * alias shares a part; the tree has no cycles.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";

/** Longest document, in UTF-16 code units. */
export const documentMaxLength = 32 * 1024 * 1024;
/** Deepest nesting. */
export const documentMaxDepth = 200;
/** Maximum number of values of a document. */
export const documentMaxNodes = 4_000_000;

export type Node = Scalar | MapNode | ListNode;
export type Scalar = string | number | boolean | null;

export interface MapNode {
  readonly kind: "map";
  readonly fields: ReadonlyMap<string, Node>;
  /** Offset of the name of each field, in the order of `fields`. */
  readonly starts: readonly number[];
}

export interface ListNode {
  readonly kind: "list";
  readonly items: readonly Node[];
  /** Offset of each item. */
  readonly starts: readonly number[];
}

export function isMap(node: Node | undefined): node is MapNode {
  return typeof node === "object" && node !== null && node.kind === "map";
}

export function isList(node: Node | undefined): node is ListNode {
  return typeof node === "object" && node !== null && node.kind === "list";
}

/** Returns field `key` of `node`, if `node` is a map that has it. */
export function fieldOf(node: Node | undefined, key: string): Node | undefined {
  return isMap(node) ? node.fields.get(key) : undefined;
}

/** Returns field `key`, if it is a text that is not blank. */
export function textOf(node: Node | undefined, key: string): string | undefined {
  const value = fieldOf(node, key);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Returns the items of field `key`; none when it is not a list. */
export function itemsOf(node: Node | undefined, key: string): readonly Node[] {
  const value = fieldOf(node, key);
  return isList(value) ? value.items : [];
}

/** Returns the fields of field `key`; none when it is not a map. */
export function entriesOf(node: Node | undefined, key: string): readonly (readonly [string, Node])[] {
  const value = fieldOf(node, key);
  return isMap(value) ? [...value.fields] : [];
}

/** Whether field `key` is `true`. */
export function isSet(node: Node | undefined, key: string): boolean {
  return fieldOf(node, key) === true;
}

/** Returns the offset of the name of field `key`, or of item `key`; the start of `node` when there is none. */
export function spanOf(node: Node | undefined, key: string | number): Span {
  let index = -1;
  if (isList(node)) index = Number(key);
  else if (isMap(node)) index = [...node.fields.keys()].indexOf(String(key));
  const starts = isMap(node) || isList(node) ? node.starts : [];
  const start = starts[index] ?? starts[0] ?? 0;
  const length = isMap(node) && index >= 0 ? String(key).length : 1;
  return { start, end: start + length };
}

/** Returns `node` as JSON; `undefined` when it has more than `maxNodes` values. */
export function toJson(node: Node, maxNodes: number): JsonValue | undefined {
  let left = maxNodes;
  const read = (one: Node): JsonValue => {
    left -= 1;
    if (left < 0) return null;
    if (isList(one)) return one.items.map(read);
    if (!isMap(one)) return one;
    const entries = [...one.fields].map(([key, value]) => [key, read(value)] as const);
    return Object.fromEntries(entries) as JsonObject;
  };
  const value = read(node);
  return left < 0 ? undefined : value;
}
