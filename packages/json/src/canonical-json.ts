/**
 * Canonical JSON (RFC 8785): equal values have equal texts, so that digests of
 * tool definitions and arguments are comparable.
 */

import { JsonError } from "./json-error.ts";

const maxDepth = 256;

/**
 * Formats `value` as canonical JSON: keys sorted by UTF-16 units, no white space,
 * numbers as ECMAScript prints them; members whose value is `undefined` are
 * left out. A surrogate without its other half is written as an escape (the
 * RFC would refuse it), so that everything `parseJson` returns has a text.
 *
 * @throws {JsonError} `JSON_NOT_SERIALIZABLE` for values without a JSON form:
 *   functions, symbols, bigints, `undefined`, numbers that are not finite, objects
 *   with a class (dates, maps), and anything nested deeper than 256 levels (cycles too).
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > maxDepth) throw notSerializable(`a value nested deeper than ${maxDepth} levels`);
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw notSerializable(`the number ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
    default:
      throw notSerializable(`a value of the type ${typeof value}`);
  }
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  for (let at = 0; at < items.length; at += 1) {
    if (at > 0) text += ",";
    text += items[at] === undefined ? "null" : write(items[at], depth + 1);
  }
  return `${text}]`;
}

function writeObject(object: object, depth: number): string {
  const prototype = Object.getPrototypeOf(object) as {
    readonly constructor?: { readonly name?: string };
  } | null;
  if (prototype !== Object.prototype && prototype !== null) {
    throw notSerializable(`an object of the class "${prototype.constructor?.name}"`);
  }
  const members = object as { readonly [key: string]: unknown };
  let text = "{";
  // The default sort of strings compares UTF-16 units, as RFC 8785 section 3.2.3 requires.
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${write(member, depth + 1)}`;
  }
  return `${text}}`;
}

function notSerializable(description: string): JsonError {
  return new JsonError("JSON_NOT_SERIALIZABLE", `Cannot write ${description} as JSON`);
}
