/**
 * JSONPath (RFC 9535) in assertions and input mappings. Parses only: nothing is evaluated here.
 */

import { JSONPathEnvironment, type JSONPathQuery } from "json-p3";

/** Longest path in UTF-16 units. */
const pathMaxLength = 2000;

const environment = new JSONPathEnvironment();

/** Returns why `path` is not a JSONPath; `undefined` if it is one. */
export function lintJsonPath(path: string): string | undefined {
  const compiled = compileJsonPath(path);
  return typeof compiled === "string" ? compiled : undefined;
}

/** Returns the first member name of a path that begins with one, such as `input` in `$.input.path`. */
export function firstNameOf(path: string): string | undefined {
  const found = /^\$\s*(?:\.\s*([\p{L}_][\p{L}\p{N}_]*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/u.exec(path);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function compileJsonPath(path: string): JSONPathQuery | string {
  if (path.length > pathMaxLength) return `a path has at most ${pathMaxLength} characters`;
  try {
    return environment.compile(path);
  } catch (thrown) {
    return (thrown as Error).message;
  }
}
