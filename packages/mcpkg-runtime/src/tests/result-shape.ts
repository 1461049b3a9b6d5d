/** The shape of a result: its members and their types, without values. Pure. */

import { canonicalJson, isJsonObject, type JsonValue } from "@toolcrib/json";
import { jsonDigest } from "@toolcrib/store";

/** Levels, members of an object and items of a list that count. */
const limits = { depth: 16, members: 500, items: 1000 } as const;

/**
 * Returns the digest of the shape of `value`, such as `sha256:…`: equal for values with the same members and types.
 * Lists have the shapes of their items, in any number and order.
 */
export function shapeOf(value: JsonValue): string {
  return jsonDigest(outlineOf(value, 0));
}

function outlineOf(value: JsonValue, depth: number): JsonValue {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (depth >= limits.depth) return "…";
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).slice(0, limits.items);
    const outlines = new Map(
      items.map((item) => {
        const outline = outlineOf(item, depth + 1);
        return [canonicalJson(outline), outline];
      }),
    );
    return [...outlines.keys()].toSorted().map((key) => outlines.get(key) ?? null);
  }
  if (!isJsonObject(value)) return "…";
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .slice(0, limits.members)
      .map(([name, member]) => [name, outlineOf(member as JsonValue, depth + 1)]),
  );
}
