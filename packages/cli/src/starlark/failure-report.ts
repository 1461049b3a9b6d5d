/** A program that failed, as people and programs read it: the calls that were under way, the place, the hint. */

import type { Source } from "@toolcrib/diagnostics";
import { type Diagnostic, formatDiagnostic, formatDiagnostics, isCodedError } from "@toolcrib/diagnostics";
import { type StackEntry, StarlarkError } from "@toolcrib/starlark";
import { safeText } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";

/** Most links of a chain of causes that are followed. */
const maxCauses = 100;

/** The lines that say what happened; `sources` are the files that its places are in, by name. */
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

/** The same for programs. */
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

/** The calls of the program, and of the files that it was loading, outermost first. */
function stackOf(error: StarlarkError): readonly StackEntry[] {
  return causesOf(error).flatMap((one) => (one instanceof StarlarkError ? one.stackEntries : []));
}

/** What is wrong with a file that could not be loaded. */
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

/** How to fix it, as the error says or what caused it. */
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
