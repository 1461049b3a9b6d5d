/**
 * Decides whether the result of a call is what a test expects (MCPKG document, section 5): the output
 * schema, the expected part, and the assertions. Pure: calls nothing.
 */

import {
  isJsonObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
  type SchemaValidator,
} from "@toolcrib/json";
import { evaluatePath, type PathMatch } from "../json-path/evaluate-path.ts";
import { type PathLimits, PathUse } from "../json-path/path-budget.ts";
import type { PackageTest } from "../manifest/test-shape.ts";
import { McpkgError } from "../mcpkg-error.ts";
import { childPath, showValue } from "./show-value.ts";

/** A difference between a result and a test. */
export interface TestFailure {
  /** The part of the test that the result does not satisfy. */
  readonly check: "output_schema" | "expected" | "assertions";
  /** Place in the result, such as `$.items[0].id`; for an assertion, its path. */
  readonly path: string;
  /** The expected value there, for people. */
  readonly expected: string;
  /** The actual value there, for people. */
  readonly got: string;
  /** One line with all of it. */
  readonly message: string;
}

/** The criteria by which a result is judged. */
export interface Expectations {
  readonly test: Pick<PackageTest, "expected" | "assertions">;
  readonly outputSchema: JsonObject;
}

/** Options of `judgeResult`. */
export interface JudgeOptions {
  readonly validator: SchemaValidator;
  /** Most failures reported. @default 20 */
  readonly failuresMaxCount?: number;
  /** Limits for all assertions together. */
  readonly limits?: PathLimits;
}

/**
 * Returns the differences between `result` and what a test expects; none if it passes.
 *
 * - `result` has to match the output schema.
 * - `expected` is a part: objects may have more members, arrays have the same length and order,
 *   numbers are equal by value.
 * - `equals` needs a match, and every match equals the value; `notEquals` is satisfied when no
 *   match equals it; `exists` and `notExists` need a match or none, and the other with `false`.
 */
export function judgeResult(
  result: JsonValue,
  { test, outputSchema }: Expectations,
  options: JudgeOptions,
): readonly TestFailure[] {
  const failures = new Failures(options.failuresMaxCount ?? 20);
  judgeSchema(result, outputSchema, options.validator, failures);
  if (test.expected !== undefined) judgePart(result, test.expected, "$", failures, 0);
  const limits = { used: new PathUse(), ...options.limits };
  for (const assertion of test.assertions ?? []) judgeAssertion(result, assertion, limits, failures);
  return failures.all;
}

class Failures {
  readonly all: TestFailure[] = [];
  readonly #maxCount: number;

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  get isFull(): boolean {
    return this.all.length >= this.#maxCount;
  }

  add(check: TestFailure["check"], path: string, expected: string, got: string): void {
    if (this.isFull) return;
    this.all.push({
      check,
      path,
      expected,
      got,
      message: `${check}: ${path} expected ${expected}, got ${got}`,
    });
  }
}

function judgeSchema(
  result: JsonValue,
  outputSchema: JsonObject,
  validator: SchemaValidator,
  failures: Failures,
): void {
  const verdict = validator.validate(outputSchema, result);
  if (verdict.kind === "valid") return;
  if (verdict.kind === "unusable") {
    failures.add("output_schema", "$", "a usable output schema", verdict.reason);
    return;
  }
  for (const { path, message } of verdict.problems) {
    const { place, value } = follow(result, path);
    failures.add("output_schema", place, message.replace(/^must /, "to "), showValue(value));
  }
}

/** Follows a JSON Pointer (RFC 6901) into the result. */
function follow(result: JsonValue, pointer: string): { place: string; value: JsonValue | undefined } {
  let place = "$";
  let value: JsonValue | undefined = result;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) {
      place = childPath(place, Number(name));
      value = value[Number(name)];
    } else {
      place = childPath(place, name);
      value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
  }
  return { place, value };
}

/** Levels of `expected` that are compared; documents have fewer. */
const comparedMaxDepth = 1000;

function judgePart(
  got: JsonValue | undefined,
  expected: JsonValue,
  path: string,
  failures: Failures,
  depth: number,
): void {
  if (failures.isFull || depth > comparedMaxDepth) return;
  if (Array.isArray(expected)) {
    if (!Array.isArray(got)) failures.add("expected", path, showValue(expected), showValue(got));
    else if (got.length !== expected.length) {
      failures.add("expected", path, `${expected.length} items`, `${got.length} items: ${showValue(got)}`);
    } else {
      expected.forEach((item: JsonValue, at) => {
        judgePart(got[at], item, childPath(path, at), failures, depth + 1);
      });
    }
    return;
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(got)) failures.add("expected", path, showValue(expected), showValue(got));
    else {
      for (const [name, value] of Object.entries(expected)) {
        if (value === undefined) continue;
        const member = Object.hasOwn(got, name) ? got[name] : undefined;
        judgePart(member, value, childPath(path, name), failures, depth + 1);
      }
    }
    return;
  }
  if (got !== expected) failures.add("expected", path, showValue(expected), showValue(got));
}

type Assertion = NonNullable<PackageTest["assertions"]>[number];

function judgeAssertion(
  result: JsonValue,
  assertion: Assertion,
  limits: PathLimits,
  failures: Failures,
): void {
  const { path } = assertion;
  try {
    judgeMatches(evaluatePath(path, result, limits), assertion, failures);
  } catch (thrown) {
    if (!(thrown instanceof McpkgError)) throw thrown;
    failures.add("assertions", path, "a path that can be evaluated", thrown.message);
  }
}

function judgeMatches(matches: readonly PathMatch[], assertion: Assertion, failures: Failures): void {
  const { path, equals, notEquals, exists, notExists } = assertion;
  const fail = (expected: string, got: string) => failures.add("assertions", path, expected, got);
  if (equals !== undefined) {
    const others = matches.filter(({ value }) => !isSameJson(value, equals));
    if (matches.length === 0) fail(showValue(equals), "no match");
    for (const other of others) {
      fail(showValue(equals), place(other, matches));
    }
  }
  if (notEquals !== undefined) {
    for (const match of matches.filter(({ value }) => isSameJson(value, notEquals))) {
      fail(`anything but ${showValue(notEquals)}`, place(match, matches));
    }
  }
  const needsMatch = exists ?? (notExists === undefined ? undefined : !notExists);
  if (needsMatch === true && matches.length === 0) fail("a match", "no match");
  if (needsMatch === false && matches.length > 0) {
    fail("no match", place(matches[0] as PathMatch, matches));
  }
}

/** A value, with its place where the path has several matches. */
function place(match: PathMatch, matches: readonly PathMatch[]): string {
  return matches.length === 1 ? showValue(match.value) : `${showValue(match.value)} at ${match.path}`;
}
