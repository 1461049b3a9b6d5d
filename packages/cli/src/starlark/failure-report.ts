/** Formats the failure of a program: traceback, position and hint, as text and as JSON. */

import type { Source } from "@toolcrib/diagnostics";
import { type Diagnostic, formatDiagnostic, formatDiagnostics, isCodedError } from "@toolcrib/diagnostics";
import { type StackEntry, StarlarkError } from "@toolcrib/starlark";
import { safeText } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";

/** Maximum number of causes of an error that are followed. */
const maxCauses = 100;

/** Returns the failure as lines of text. @param sources the files of its positions, by name */
export function failureLines(error: StarlarkError, sources: ReadonlyMap<string, Source>): readonly string[] {
  const findings = findingsOf(error);
  const stack = stackOf(error);
  const lines = findings.length === 0 ? [] : [formatDiagnostics(findings), ""];
  if (stack.length > 0) lines.push("Traceback (most recent call last):");
  for (const { file, lineNumber, columnNumber, function: name } of stack) {
    const place = lineNumber === undefined ? "" : `:${lineNumber}:${columnNumber}`;
    lines.push(`  ${safeText(`${file}${place}: in ${name}`)}`);
  }
  lines.push(formatDiagnostic(diagnosticOf(error, stack, sources)));
  return lines;
}

/** Returns the failure as JSON. */
export function failureJson(error: StarlarkError): object {
  const findings = findingsOf(error);
  return {
    code: "CLI_PROGRAM_FAILED",
    kind: error.kind,
    message: error.message,
    hint: hintOf(error),
    ...(error.tool === undefined ? undefined : { tool: error.tool }),
    stack: stackOf(error).map(({ function: name, file, lineNumber, columnNumber }) => {
      return { function: name, file, line: lineNumber, column: columnNumber };
    }),
    ...(findings.length === 0 ? undefined : { diagnostics: findings.map(toJsonDiagnostic) }),
  };
}

/** Returns the calls of the program and of the files that it was loading, outermost first. */
function stackOf(error: StarlarkError): readonly StackEntry[] {
  return causesOf(error).flatMap((one) => (one instanceof StarlarkError ? one.stackEntries : []));
}

/** Returns the findings about a file that could not be loaded. */
function findingsOf(error: StarlarkError): readonly Diagnostic[] {
  return causesOf(error).flatMap((one) => {
    const found = isCodedError(one) ? one.data?.["diagnostics"] : undefined;
    return Array.isArray(found) ? (found as readonly Diagnostic[]) : [];
  });
}

function causesOf(error: StarlarkError): readonly Error[] {
  const causes: Error[] = [];
  for (let one: unknown = error; one instanceof Error && causes.length < maxCauses; one = one.cause) {
    causes.push(one);
  }
  return causes;
}

/** Returns the hint of the error or of its first cause that has one. */
function hintOf(error: StarlarkError): string | undefined {
  return causesOf(error)
    .flatMap((one) => (one instanceof StarlarkError ? [one.hint] : []))
    .find((hint) => hint !== undefined);
}

function diagnosticOf(
  error: StarlarkError,
  stack: readonly StackEntry[],
  sources: ReadonlyMap<string, Source>,
): Diagnostic {
  const entry = stack.findLast(({ offset }) => offset !== undefined);
  const source = entry === undefined ? undefined : sources.get(entry.file);
  const start = entry?.offset ?? 0;
  const span = source === undefined ? undefined : { start, end: start + 1 };
  const { message } = error;
  return { severity: "error", code: "CLI_PROGRAM_FAILED", message, hint: hintOf(error), source, span };
}
