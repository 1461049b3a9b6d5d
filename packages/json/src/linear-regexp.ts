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

/**
 * Steps of one test, of each UTF-16 unit, and instructions of the program that are one more step for
 * each unit: the engine can visit all instructions at every unit, in some 30 ns each.
 */
const stepsPerTest = 4;
const stepsPerUnit = 0.5;
const instructionsPerStep = 3;
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
    RE2JS.translateRegExp(withShortProperties(pattern)),
    flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0,
  );
  const name = `/${pattern}/${flags}`;
  const stepsOfUnit = stepsPerUnit + compiled.programSize() / instructionsPerStep;
  return {
    test(text) {
      budget.spend(stepsPerTest + text.length * stepsOfUnit);
      return compiled.matcher(text).find();
    },
    toString: () => name,
  };
}

/** Long names of general categories (Unicode, PropertyValueAliases), which RE2 has by their short names. */
const categories: { readonly [name: string]: string } = {
  Close_Punctuation: "Pe",
  Connector_Punctuation: "Pc",
  Control: "Cc",
  Currency_Symbol: "Sc",
  Dash_Punctuation: "Pd",
  Decimal_Number: "Nd",
  Enclosing_Mark: "Me",
  Final_Punctuation: "Pf",
  Format: "Cf",
  Initial_Punctuation: "Pi",
  Letter: "L",
  Letter_Number: "Nl",
  Line_Separator: "Zl",
  Lowercase_Letter: "Ll",
  Mark: "M",
  Math_Symbol: "Sm",
  Modifier_Letter: "Lm",
  Modifier_Symbol: "Sk",
  Nonspacing_Mark: "Mn",
  Number: "N",
  Open_Punctuation: "Ps",
  Other: "C",
  Other_Letter: "Lo",
  Other_Number: "No",
  Other_Punctuation: "Po",
  Other_Symbol: "So",
  Paragraph_Separator: "Zp",
  Private_Use: "Co",
  Punctuation: "P",
  Separator: "Z",
  Space_Separator: "Zs",
  Spacing_Mark: "Mc",
  Surrogate: "Cs",
  Symbol: "S",
  Titlecase_Letter: "Lt",
  Uppercase_Letter: "Lu",
};

/** Writes `\p{Letter}`, `\p{gc=L}` and `\p{Script=Greek}` of ECMA 262 as RE2 does; leaves escaped backslashes alone. */
function withShortProperties(pattern: string): string {
  return pattern.replace(
    /\\(?:([pP])\{(?:(?:gc|sc|General_Category|Script)=)?(\w+)\}|.)/gs,
    (found, letter: string | undefined, name: string) =>
      letter === undefined ? found : `\\${letter}{${categories[name] ?? name}}`,
  );
}
