/** Measures the size of values as JSON without serializing them. Pure. */

import type { JsonValue } from "@toolcrib/json";
import { type Json, StarlarkError } from "@toolcrib/starlark";

/**
 * Returns the size of `value` as JSON in bytes, slightly too low for strings with
 * escapes. Stops counting beyond `limit`.
 */
export function jsonSize(value: JsonValue | undefined, limit = Number.POSITIVE_INFINITY): number {
  switch (typeof value) {
    case "string":
      return 2 + (value.length > limit ? value.length : Buffer.byteLength(value, "utf8"));
    case "number":
      return String(value).length;
    case "boolean":
      return value ? 4 : 5;
    default:
      return value === null || value === undefined ? 4 : sizeOfParts(value, limit);
  }
}

function sizeOfParts(value: Exclude<JsonValue, string | number | boolean | null>, limit: number): number {
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    // The brackets, and the commas between items.
    let size = 2 + Math.max(0, items.length - 1);
    for (const item of items) {
      if (size > limit) break;
      size += jsonSize(item, limit - size);
    }
    return size;
  }
  const members = Object.entries(value);
  let size = 2 + Math.max(0, members.length - 1);
  for (const [key, member] of members) {
    if (size > limit) break;
    size += Buffer.byteLength(key, "utf8") + 3 + jsonSize(member, limit - size);
  }
  return size;
}

/**
 * Converts JSON data of a program to data that can be sent.
 *
 * @param place the name of the data in an error, such as `the result`.
 * @throws {StarlarkError} for an int beyond the range of JSON numbers.
 */
export function toJsonValue(data: Json, place: string): JsonValue {
  checkNumbers(data, place);
  return data as unknown as JsonValue;
}

function checkNumbers(data: Json, place: string): void {
  if (typeof data === "bigint") {
    throw new StarlarkError(`cannot send ${place}: ${shortened(data)} is beyond the range of JSON numbers`, {
      hint: "send it as a string: str(n)",
    });
  }
  if (typeof data !== "object" || data === null) return;
  if (Array.isArray(data)) {
    const items = data as readonly Json[];
    for (let index = 0; index < items.length; index += 1) checkPart(items[index]!, place, `[${index}]`);
    return;
  }
  for (const [key, member] of Object.entries(data)) checkPart(member, place, `.${key}`);
}

function checkPart(data: Json, place: string, step: string): void {
  // The place is formatted only for an error.
  if (typeof data === "bigint" || (typeof data === "object" && data !== null))
    checkNumbers(data, place + step);
}

function shortened(int: bigint): string {
  const digits = int.toString();
  return digits.length <= 40 ? digits : `an int of ${digits.length} digits`;
}
