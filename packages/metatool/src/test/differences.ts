/** Where two JSON values differ, for people: the path, what was expected, what there was. Pure. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";

/** One place in which a value is not what was expected. */
export interface Difference {
  /** `$` for the whole, then `.name`, `["a name"]` and `[0]`. */
  readonly path: string;
  /** As JSON, cut where it is long; `nothing` where there should be none. */
  readonly expected: string;
  readonly actual: string;
}

/** Most differences that are told. */
const differencesMaxCount = 20;
/** Longest value of a difference. */
const shownMaxLength = 200;
const maxDepth = 200;

/** The places in which `actual` differs, in the order of the document; none when they are the same. */
export function findDifferences(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  limit = differencesMaxCount,
): readonly Difference[] {
  const found: Difference[] = [];
  compare(expected, actual, "$", 0, found, limit);
  return found;
}

/** Whether two values are the same JSON. The order of members does not count. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return findDifferences(one, other, 1).length === 0;
}

function compare(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  path: string,
  depth: number,
  found: Difference[],
  limit: number,
): void {
  // -0 is 0 in JSON texts of other programs, and NaN is none.
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

/** A difference in a line. */
export function describeDifference({ path, expected, actual }: Difference): string {
  return `${path}: expected ${expected}, got ${actual}`;
}
