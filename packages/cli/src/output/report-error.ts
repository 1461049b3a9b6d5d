/**
 * Reports the error of a failed command: code, message and hint on standard error,
 * and with `--json` also as the document on standard output. Prints a stack only
 * with `--debug`. On a terminal the last line names the command that explains the code.
 */

import {
  type Diagnostic,
  formatDiagnostics,
  isCodedError,
  messageOf,
  positionAt,
} from "@toolcrib/diagnostics";
import { toLoadFailure } from "../load-failure.ts";
import type { Output } from "./output.ts";
import { safeText } from "./output.ts";
import { withHome, withProgram } from "./with-home.ts";

/** Options of `reportError`. */
export interface ReportOptions {
  readonly isDebug: boolean;
  /** Added to the commands in message, hint and findings. @default "" */
  readonly homeFlag?: string;
  /** Takes the place of `toolcrib` in these commands. @default "toolcrib" */
  readonly program?: string;
}

/** Reports `error`. */
export function reportError(
  output: Output,
  error: unknown,
  { isDebug, homeFlag = "", program = "toolcrib" }: ReportOptions,
): void {
  const { code, message: plainMessage, hint: plainHint } = describeError(error);
  const pasted = (text: string) => withProgram(withHome(text, homeFlag), program);
  const hint = plainHint === undefined ? undefined : pasted(plainHint);
  const message = pasted(plainMessage);
  const diagnostics = diagnosticsOf(error).map((one) => ({
    ...one,
    message: pasted(one.message),
    ...(one.hint === undefined ? {} : { hint: pasted(one.hint) }),
  }));
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
  output.note(`${output.noteStyle(["bold", "red"], `error ${code}`)}: ${safeText(message)}`);
  if (hint !== undefined) output.note(`${output.noteStyle("cyan", "hint")}: ${safeText(hint)}`);
  if (isExplained(code)) noteExplanation(output, code, `${program}${homeFlag}`);
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

/** On a terminal, names the command that explains a code. @param command `toolcrib` as this run can be started */
export function noteExplanation(output: Output, code: string, command: string): void {
  if (output.isNoteTerminal && !output.isJson)
    output.note(output.noteStyle("dim", `${command} explain ${code}`));
}

/** Codes that say everything in their message and hint. */
const plainCodes: ReadonlySet<string> = new Set(["CLI_USAGE", "CLI_INTERRUPTED", "CLI_CODE_NOT_FOUND"]);

/** Whether `toolcrib explain` adds something. The types of errors of composites are in lower case and have no page. */
function isExplained(code: string): boolean {
  return /^[A-Z]/.test(code) && !plainCodes.has(code);
}

function describeError(error: unknown): { code: string; message: string; hint: string | undefined } {
  if (isCodedError(error)) return { code: error.code, message: error.message, hint: error.hint };
  const failure = toLoadFailure(error);
  if (failure !== undefined) return failure;
  return {
    code: "CLI_INTERNAL",
    message: messageOf(error),
    hint: "this is a bug in Toolcrib; run the command with --debug and report its output",
  };
}

function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  const found = isCodedError(error) ? error.data?.["diagnostics"] : undefined;
  return Array.isArray(found) ? (found as readonly Diagnostic[]) : [];
}

/** Returns a finding for `--json`: line and column numbers, without the text of the file. */
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

/** Returns the stacks of an error and its causes. */
function stacksOf(error: unknown): string[] {
  const stacks: string[] = [];
  for (let at = error; at instanceof Error && stacks.length < 10; at = at.cause) {
    stacks.push(`${stacks.length === 0 ? "" : "caused by "}${safeText(at.stack ?? at.message)}`);
  }
  return stacks;
}
