/**
 * JSON values whose strings are all well-formed Unicode. JSON text can contain half
 * of a surrogate pair as an escape, which many programs cannot read or write; for
 * some, the whole message that contains it is invalid.
 */

import { isJsonObject, type JsonValue } from "./json-value.ts";

/** Returns `value` with U+FFFD in place of each surrogate without its other half, also in names of members. */
export function toWellFormedJson<T extends JsonValue>(value: T): T {
  return convert(value) as T;
}

/** Whether a JSON text can contain half of a surrogate pair. Fast; a text about such escapes counts too. */
export function mayBeIllFormed(text: string): boolean {
  return text.includes("\\ud") || text.includes("\\uD");
}

function convert(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(convert);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name.toWellFormed(), convert(part as JsonValue)]),
  );
}
