/** How large values are as JSON, without writing them. Pure. */

import type { JsonValue } from "@toolcrib/json";
import { type Json, StarlarkError } from "@toolcrib/starlark";

/**
 * The size of `value` as JSON in bytes, a little low where strings need escapes.
 * Counting stops once it is past `limit`.
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
    // The brackets, and a comma between two.
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
 * JSON data of a program as what can be sent.
 *
 * @param place what it is called where it cannot, such as `the result`.
 * @throws {StarlarkError} for an int that a JSON number cannot hold.
 */
export function toJsonValue(data: Json, place: string): JsonValue {
  checkNumbers(data, place);
  return data as unknown as JsonValue;
}

function checkNumbers(data: Json, place: string): void {
  if (typeof data === "bigint") {
    throw new StarlarkError(`cannot send ${place}: ${shortened(data)} is beyond what JSON numbers hold`, {
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
  // The place is put together only where something stands.
  if (typeof data === "bigint" || (typeof data === "object" && data !== null))
    checkNumbers(data, place + step);
}

function shortened(int: bigint): string {
  const digits = int.toString();
  return digits.length <= 40 ? digits : `an int of ${digits.length} digits`;
}
