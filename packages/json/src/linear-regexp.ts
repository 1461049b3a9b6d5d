/**
 * Runs the patterns of schemas on RE2, in time linear in the text, so that no
 * pattern of a server can stall the process. Patterns that RE2 does not support
 * (look-around, back references) are refused, never approximated.
 */

import { RE2JS } from "re2js";
import type { StepBudget } from "./step-budget.ts";

/** The interface of a compiled pattern for Ajv. */
export interface LinearRegExp {
  test(text: string): boolean;
  /** Unique to the pattern and its flags. */
  toString(): string;
}

/** Steps of one test, and the number of UTF-16 units that count as one more step. */
const stepsPerTest = 4;
const unitsPerStep = 2;
/** `\1` and `\k<name>`, which RE2JS would interpret as plain letters. */
const backReference = /^(?:[^\\]|\\[^1-9k])*\\[1-9k]/s;

/**
 * Compiles `pattern` (ECMA 262, as far as RE2 supports it); each test uses steps of `budget`.
 *
 * Ajv identifies a pattern by the `toString()` of the compiled pattern, which
 * must be unique; otherwise the first pattern of a schema replaces all others.
 *
 * @throws {Error} when RE2 does not support the pattern, with its reason.
 */
export function compileLinearRegExp(pattern: string, flags: string, budget: StepBudget): LinearRegExp {
  if (backReference.test(pattern)) throw new Error(`the pattern "${pattern}" contains a back reference`);
  const compiled = RE2JS.compile(
    RE2JS.translateRegExp(pattern),
    flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0,
  );
  const name = `/${pattern}/${flags}`;
  return {
    test(text) {
      budget.spend(stepsPerTest + text.length / unitsPerStep);
      return compiled.matcher(text).find();
    },
    toString: () => name,
  };
}
