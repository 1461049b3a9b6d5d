/**
 * Programs in their canonical layout: four spaces, lines of at most 100 columns
 * where brackets allow it, one element on a line where a bracket is broken, one
 * empty line at most. What a program means stays as it is, and so do the spelling
 * of its literals, its parentheses and its comments. No I/O.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import { parseFile } from "../syntax/parser.ts";
import { printFile } from "./statement-printer.ts";

/** What came of formatting a program. */
export interface FormattedProgram {
  /** The program in its canonical layout; absent when it has errors. */
  readonly text: string | undefined;
  /** What is wrong with it. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Format a program. A list, a dict, a call or another bracket whose first element
 * is on a line of its own stays broken; otherwise the width decides.
 *
 * @returns text that parses to the same tree, and that formatting leaves as it is.
 */
export function formatProgram(source: Source, dialect: Dialect): FormattedProgram {
  const { value: file, diagnostics } = parseFile(source, dialect);
  if (hasErrors(diagnostics)) return { text: undefined, diagnostics };
  const text = printFile(file, programLimits.sourceLength);
  if (text !== undefined) return { text, diagnostics };
  const problem: Diagnostic = {
    severity: "error",
    code: "STARLARK_TOO_LARGE",
    message: `The formatted program would be longer than ${programLimits.sourceLength} characters`,
    hint: "divide it into several files",
    source,
  };
  return { text: undefined, diagnostics: [...diagnostics, problem] };
}
