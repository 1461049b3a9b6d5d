/** The size of a value as JSON, computed without serializing it. Pure. */

import type { JsonValue } from "./json-value.ts";

/**
 * Returns the size of `value` as JSON in bytes, slightly too low where strings
 * need escapes. Counting stops after `limit`.
 *
 * @param maxDepth nested objects and lists; the size of a value with more is infinite. @default no limit
 */
export function jsonSize(
  value: JsonValue | undefined,
  limit: number,
  maxDepth: number = Number.POSITIVE_INFINITY,
): number {
  if (typeof value === "string")
    return 2 + (value.length > limit ? value.length : Buffer.byteLength(value, "utf8"));
  if (typeof value === "number") return 8;
  if (typeof value !== "object" || value === null) return 5;
  if (maxDepth <= 0) return Number.POSITIVE_INFINITY;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += 1 + jsonSize(item, limit - size, maxDepth - 1);
      if (size > limit) return size;
    }
    return size;
  }
  for (const key in value) {
    const member = (value as { readonly [key: string]: JsonValue })[key];
    size += key.length + 4 + jsonSize(member, limit - size, maxDepth - 1);
    if (size > limit) return size;
  }
  return size;
}
