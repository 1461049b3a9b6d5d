/** How large a value would be as JSON, without writing it. Pure. */

import type { JsonValue } from "@toolcrib/json";

/**
 * The size of `value` as JSON in bytes, a little low where strings need
 * escapes; counting stops once it is past `limit`.
 */
export function jsonSize(value: JsonValue | undefined, limit: number): number {
  if (typeof value === "string")
    return 2 + (value.length > limit ? value.length : Buffer.byteLength(value, "utf8"));
  if (typeof value === "number") return 8;
  if (typeof value !== "object" || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += 1 + jsonSize(item, limit - size);
      if (size > limit) return size;
    }
    return size;
  }
  for (const key in value) {
    size += key.length + 4 + jsonSize((value as { readonly [key: string]: JsonValue })[key], limit - size);
    if (size > limit) return size;
  }
  return size;
}
