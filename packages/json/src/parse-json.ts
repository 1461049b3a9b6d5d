/**
 * Parses untrusted JSON text within limits of size and depth. Checks the depth
 * in the text before it builds a value, so that a text of a million brackets
 * costs only a scan.
 */

import { describeJsonFault } from "./find-json-fault.ts";
import { JsonError } from "./json-error.ts";
import type { JsonValue } from "./json-value.ts";

/** Limits of `parseJson`. */
export interface JsonLimits {
  /** Maximum number of UTF-16 units of text. @default 16,777,216 */
  readonly maxLength?: number;
  /** Maximum number of nested objects and arrays. @default 128 */
  readonly maxDepth?: number;
  /**
   * Maximum number of values: many empty objects take 20 times the memory of their text. @default no limit
   */
  readonly maxValues?: number;
}

const defaultMaxLength = 16 * 1024 * 1024;
const defaultMaxDepth = 128;

/**
 * Parses `text` (RFC 8259).
 *
 * @throws {JsonError} `JSON_INVALID` with line, column and position of the fault and what is expected there, and no part
 *   of the text; `JSON_TOO_LARGE`, `JSON_TOO_DEEP`, `JSON_TOO_MANY_VALUES`.
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonValue {
  const maxLength = limits.maxLength ?? defaultMaxLength;
  if (text.length > maxLength) {
    throw new JsonError(
      "JSON_TOO_LARGE",
      `JSON text has ${text.length} characters; at most ${maxLength} are allowed`,
    );
  }
  const { maxValues = Number.POSITIVE_INFINITY } = limits;
  // Each value but the first needs a comma before it or a bracket around it, so that most texts need no scan.
  if (
    text.length > maxValues &&
    hasManyOf(text, [",", "{", "["], maxValues) &&
    hasMoreValues(text, maxValues)
  ) {
    throw new JsonError("JSON_TOO_MANY_VALUES", `JSON text has more than ${maxValues} values`);
  }
  const maxDepth = limits.maxDepth ?? defaultMaxDepth;
  // Each level needs an opening bracket, so that most texts need no scan.
  if (text.length > maxDepth && hasManyOf(text, ["{", "["], maxDepth) && isDeeperThan(text, maxDepth)) {
    throw new JsonError("JSON_TOO_DEEP", `JSON text nests deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Without a cause: the message of the engine quotes the text, which can be a secret.
    throw new JsonError("JSON_INVALID", describeJsonFault(text));
  }
}

/** Whether `text` has more than `count` commas and opening brackets outside of strings. */
function hasMoreValues(text: string, count: number): boolean {
  let left = count;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
    } else if (unit === comma || unit === 0x7b || unit === 0x5b) {
      if (left === 0) return true;
      left -= 1;
    }
  }
  return false;
}

/**
 * Returns about how many values a JSON text has: its commas and opening brackets, those in strings included. Takes
 * little time next to parsing.
 */
export function estimateValues(text: string): number {
  let count = 1;
  for (const mark of [",", "{", "["]) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count += 1;
  }
  return count;
}

const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;

/** Whether `text` has more than `count` of `marks`, those in strings included. Much faster than a scan. */
function hasManyOf(text: string, marks: readonly string[], count: number): boolean {
  let left = count;
  for (const mark of marks) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      if (left === 0) return true;
      left -= 1;
    }
  }
  return false;
}

function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

/** Returns the index of the quote that ends the string at `start`; the end of the text without one. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
