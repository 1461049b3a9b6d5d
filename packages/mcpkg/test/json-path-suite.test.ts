/**
 * Runs the JSONPath Compliance Test Suite (RFC 9535) through `evaluatePath`, the function that
 * assertions and mappings use. No case is left out.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "@toolcrib/json";
import { evaluatePath, McpkgError } from "@toolcrib/mcpkg";
import { needsSuite, readSuite } from "@toolcrib/testing";

interface SuiteCase {
  readonly name: string;
  readonly selector: string;
  readonly document?: JsonValue;
  readonly result?: readonly JsonValue[];
  readonly results?: readonly (readonly JsonValue[])[];
  readonly result_paths?: readonly string[];
  readonly results_paths?: readonly (readonly string[])[];
  readonly invalid_selector?: boolean;
}

/** Cases of the suite of May 2026; later versions have more. */
const casesLeastCount = 703;

const files = readSuite("json-path");

test("evaluatePath() passes every case of the JSONPath Compliance Test Suite", needsSuite(files), () => {
  const cases = files.flatMap(({ path, text }) =>
    (JSON.parse(text) as { readonly tests: readonly SuiteCase[] }).tests.map((one) => ({
      ...one,
      name: `${path}: ${one.name}`,
    })),
  );
  assert(cases.length >= casesLeastCount, `the suite has only ${cases.length} cases`);
  const failed = cases.filter((one) => !conforms(one)).map(({ name, selector }) => `${name}: ${selector}`);
  assert.deepEqual(failed, [], `${failed.length} of ${cases.length} cases fail`);
});

function conforms(one: SuiteCase): boolean {
  if (one.invalid_selector === true) return isInvalid(one.selector);
  const matches = evaluatePath(one.selector, one.document ?? null);
  const values = matches.map(({ value }) => value);
  const paths = matches.map(({ path }) => path);
  const allowed = one.results ?? [one.result ?? []];
  const allowedPaths = one.results_paths ?? (one.result_paths === undefined ? undefined : [one.result_paths]);
  return allowed.some(
    (expected, index) =>
      isSame(values, expected) && (allowedPaths === undefined || isSame(paths, allowedPaths[index])),
  );
}

function isInvalid(selector: string): boolean {
  try {
    evaluatePath(selector, null);
    return false;
  } catch (thrown) {
    return thrown instanceof McpkgError && thrown.code === "MCPKG_JSON_PATH_INVALID";
  }
}

function isSame(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
