/**
 * Canonical JSON (RFC 8785): the same value gives the same text everywhere, so
 * that digests of tool definitions and arguments can be compared.
 */

import { jsonNotSerializable } from "./codes.ts";
import { JsonError } from "./json-error.ts";

const maxDepth = 256;

/**
 * `value` as canonical JSON: keys sorted by UTF-16 units, no white space,
 * numbers as ECMAScript prints them; members whose value is `undefined` are left out.
 *
 * @throws {JsonError} `JSON_NOT_SERIALIZABLE` for functions, symbols, bigints,
 *   numbers that are not finite, and anything nested deeper than 256 levels (cycles too).
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > maxDepth) {
    throw new JsonError(
      jsonNotSerializable,
      `Cannot write a value nested deeper than ${maxDepth} levels as JSON`,
    );
  }
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) {
        throw new JsonError(jsonNotSerializable, `Cannot write the number ${value} as JSON`);
      }
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value)
        ? `[${value.map((item) => write(item === undefined ? null : item, depth + 1)).join(",")}]`
        : writeObject(value as { readonly [key: string]: unknown }, depth);
    default:
      throw new JsonError(jsonNotSerializable, `Cannot write a ${typeof value} as JSON`);
  }
}

function writeObject(object: { readonly [key: string]: unknown }, depth: number): string {
  const members: string[] = [];
  // The default sort of strings compares UTF-16 units, as RFC 8785 section 3.2.3 asks.
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${write(member, depth + 1)}`);
  }
  return `{${members.join(",")}}`;
}
