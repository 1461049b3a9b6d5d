/** Finds the differences between two JSON values: path, expected and actual value. Pure. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";

/** One difference. */
export interface Difference {
  /** `$` for the whole, then `.name`, `["a name"]` and `[0]`. */
  readonly path: string;
  /** JSON, truncated when it is long; `nothing` for an absent value. */
  readonly expected: string;
  readonly actual: string;
}

/** Maximum number of reported differences. */
const differencesMaxCount = 20;
/** Longest value of a difference. */
const shownMaxLength = 200;
const maxDepth = 200;

/** Returns the differences of `actual`, in the order of the document. */
export function findDifferences(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  limit = differencesMaxCount,
): readonly Difference[] {
  const found: Difference[] = [];
  compare(expected, actual, "$", 0, found, limit);
  return found;
}

function compare(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  path: string,
  depth: number,
  found: Difference[],
  limit: number,
): void {
  // Other programs write -0 as 0, and NaN is not JSON.
  if (found.length >= limit || expected === actual) return;
  if (depth < maxDepth && Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length && found.length < limit; index += 1) {
      compare(expected[index], actual[index], `${path}[${index}]`, depth + 1, found, limit);
    }
    return;
  }
  if (depth < maxDepth && isJsonObject(expected) && isJsonObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const own = (value: typeof expected) => (Object.hasOwn(value, name) ? value[name] : undefined);
      compare(own(expected), own(actual), `${path}${step(name)}`, depth + 1, found, limit);
    }
    return;
  }
  const [left, right] = [JSON.stringify(expected), JSON.stringify(actual)];
  if (depth < maxDepth || left !== right) found.push({ path, expected: show(left), actual: show(right) });
}

function step(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function show(text: string | undefined): string {
  if (text === undefined) return "nothing";
  return text.length <= shownMaxLength ? text : `${text.slice(0, shownMaxLength).toWellFormed()}…`;
}

/** Formats a difference as one line. */
export function describeDifference({ path, expected, actual }: Difference): string {
  return `${path}: expected ${expected}, got ${actual}`;
}
