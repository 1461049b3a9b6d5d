/**
 * Formats programs in the canonical layout: indentation by four spaces, lines of up
 * to 100 columns where brackets allow a break, one element a line in broken brackets,
 * and at most one empty line. The meaning of the program is unchanged, and so are its
 * literals, parentheses and comments. No I/O.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import { parseFile } from "../syntax/parser.ts";
import { printFile } from "./statement-printer.ts";

/** The result of formatting a program. */
export interface FormattedProgram {
  /** The formatted program; absent if the program has errors. */
  readonly text: string | undefined;
  /** Findings in the program. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Formats a program. Brackets stay broken if their first element is on a new line;
 * otherwise the width decides.
 *
 * @returns a text that parses to the same tree and does not change when it is
 *   formatted again.
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
