/** Results of programs as JSON texts: ints of any size keep all their digits. Pure. */

import type { Json } from "@toolcrib/starlark";

/** `JSON.rawJSON`, which the library's types do not have yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object };

/** `value` as `JSON.stringify` takes it: bigints become numbers of its text. */
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
