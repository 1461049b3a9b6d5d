/**
 * Parses untrusted JSON text within limits of size and depth. Checks the depth
 * in the text before it builds a value, so that a text of a million brackets
 * costs only a scan.
 */

import { JsonError } from "./json-error.ts";
import type { JsonValue } from "./json-value.ts";

/** Limits of `parseJson`. */
export interface JsonLimits {
  /** Maximum number of UTF-16 units of text. @default 16,777,216 */
  readonly maxLength?: number;
  /** Maximum number of nested objects and arrays. @default 128 */
  readonly maxDepth?: number;
}

const defaultMaxLength = 16 * 1024 * 1024;
const defaultMaxDepth = 128;

/**
 * Parses `text` (RFC 8259).
 *
 * @throws {JsonError} `JSON_INVALID` with the engine's reason, `JSON_TOO_LARGE`, `JSON_TOO_DEEP`.
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonValue {
  const maxLength = limits.maxLength ?? defaultMaxLength;
  if (text.length > maxLength) {
    throw new JsonError(
      "JSON_TOO_LARGE",
      `JSON text has ${text.length} characters; at most ${maxLength} are allowed`,
    );
  }
  const maxDepth = limits.maxDepth ?? defaultMaxDepth;
  // Each level needs an opening bracket, so that most texts need no scan.
  if (text.length > maxDepth && hasManyBrackets(text, maxDepth) && isDeeperThan(text, maxDepth)) {
    throw new JsonError("JSON_TOO_DEEP", `JSON text nests deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new JsonError("JSON_INVALID", `JSON text is not valid: ${(cause as Error).message}`, { cause });
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Whether `text` has more than `count` opening brackets, those including those in strings. Much faster than a scan. */
function hasManyBrackets(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
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
