/** Prepares results of programs for `JSON.stringify`: integers of any size keep all digits. Pure. */

import type { Json } from "@toolcrib/starlark";

/** `JSON.rawJSON`, which the type library does not declare yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object };

/** Converts `value` for `JSON.stringify`: a bigint becomes a number in the text. */
export function toWritable(value: Json): unknown {
  if (typeof value === "bigint") return rawJSON(value.toString());
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(toWritable);
  const writable: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) writable[key] = toWritable(member);
  return writable;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
