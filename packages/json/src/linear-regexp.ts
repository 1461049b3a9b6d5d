/**
 * Patterns of schemas on RE2, whose time grows with the text and with nothing
 * else, so that no pattern of a server can stall the process. What RE2 cannot
 * do (look-around, back references) is refused, never approximated.
 */

import { RE2JS } from "re2js";
import type { StepBudget } from "./step-budget.ts";

/** What Ajv wants of a compiled pattern. */
export interface LinearRegExp {
  test(text: string): boolean;
  /** Unique to the pattern and its flags. */
  toString(): string;
}

/** Steps of one test, and UTF-16 units of text that count as one step more. */
const stepsPerTest = 4;
const unitsPerStep = 2;
/** `\1` and `\k<name>`, which RE2JS would read as plain letters. */
const backReference = /^(?:[^\\]|\\[^1-9k])*\\[1-9k]/s;

/**
 * Compile `pattern` (ECMA 262, as far as RE2 goes); each test draws on `budget`.
 *
 * Ajv names a pattern by the `toString()` of its engine's product, which must
 * be unique to the pattern, or all patterns of a schema collapse into the first.
 *
 * @throws {Error} when RE2 cannot do it, with its reason.
 */
export function compileLinearRegExp(pattern: string, flags: string, budget: StepBudget): LinearRegExp {
  if (backReference.test(pattern)) throw new Error(`the pattern "${pattern}" holds a back reference`);
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
