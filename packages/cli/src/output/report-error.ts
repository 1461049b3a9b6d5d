/**
 * How a command that failed says so: code, message and hint on standard error,
 * and with `--json` the same as the document on standard output. Never a stack,
 * except with `--debug`.
 */

import {
  type Diagnostic,
  formatDiagnostics,
  isCodedError,
  messageOf,
  positionAt,
} from "@toolcrib/diagnostics";
import type { Output } from "./output.ts";
import { safeText } from "./output.ts";

/** Report `error`. */
export function reportError(output: Output, error: unknown, isDebug: boolean): void {
  const { code, message, hint } = describeError(error);
  const diagnostics = diagnosticsOf(error);
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
  output.note(`${output.noteStyle(["bold", "red"], `error ${code}`)}: ${safeText(message)}`);
  if (hint !== undefined) output.note(`${output.noteStyle("cyan", "hint")}: ${safeText(hint)}`);
  if (isDebug) output.note(...stacksOf(error));
  output.json({
    error: {
      code,
      message,
      hint,
      ...(diagnostics.length === 0 ? undefined : { diagnostics: diagnostics.map(toJsonDiagnostic) }),
    },
  });
}

function describeError(error: unknown): { code: string; message: string; hint: string | undefined } {
  if (isCodedError(error)) return { code: error.code, message: error.message, hint: error.hint };
  return {
    code: "CLI_INTERNAL",
    message: messageOf(error),
    hint: "this is a defect of Toolcrib; run the command with --debug and report what it prints",
  };
}

function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  const found = isCodedError(error) ? error.data?.["diagnostics"] : undefined;
  return Array.isArray(found) ? (found as readonly Diagnostic[]) : [];
}

/** A finding as `--json` shows it: its place in numbers, without the text of its file. */
export function toJsonDiagnostic({ severity, code, message, hint, source, span, path }: Diagnostic): object {
  const place = source === undefined || span === undefined ? undefined : positionAt(source.text, span.start);
  return {
    severity,
    code,
    message,
    hint,
    file: source?.name,
    line: place?.lineNumber,
    column: place?.columnNumber,
    path,
  };
}

/** The stacks of an error and of what caused it. */
function stacksOf(error: unknown): string[] {
  const stacks: string[] = [];
  for (let at = error; at instanceof Error && stacks.length < 10; at = at.cause) {
    stacks.push(`${stacks.length === 0 ? "" : "caused by "}${safeText(at.stack ?? at.message)}`);
  }
  return stacks;
}
