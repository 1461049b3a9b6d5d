/**
 * Prints the response of a composite tool: its print output on standard error, its
 * result on standard output, its error with the position in the program.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Output, safeText } from "../output/output.ts";
import { hasHiddenContent, resultLines } from "../tools/print-result.ts";

/** Prints the response of a composite tool. @param program file name for positions, such as `NAME.star` */
export function printResponse(context: CliContext, result: ToolResult, program: string): ExitCode {
  const { output } = context;
  const envelope = envelopeOf(result);
  output.json(envelope ?? result);
  if (envelope === undefined) {
    // An older gateway, or a tool that is not a composite: print its content unchanged.
    const lines = resultLines(result).map(safeText);
    if (result.isError === true) output.note(...lines);
    else output.print(...lines);
    return result.isError === true ? exitCodes.failed : exitCodes.done;
  }
  const { error } = envelope;
  if (isJsonObject(error)) {
    if (!output.isJson) printError(output, error, program);
    return exitCodeOfType(error["type"]);
  }
  if (output.isJson) return exitCodes.done;
  printLogs(output, envelope["logs"]);
  printValue(context, envelope["result"]);
  return exitCodes.done;
}

/** Whether a result has the form of a composite tool's response, and nothing besides. */
export function isResponse(result: ToolResult): boolean {
  const envelope = envelopeOf(result);
  if (envelope === undefined || result.isError === true || hasHiddenContent(result)) return false;
  return Object.keys(envelope).sort().join() === "executionTime,logs,result,toolCalls";
}

/** Returns the structured content of a composite tool's response, if there is one. */
export function envelopeOf({ structuredContent }: ToolResult): JsonObject | undefined {
  return isJsonObject(structuredContent) ? structuredContent : undefined;
}

/** Returns the exit code for an error type (Metatool document, Error Types). */
export function exitCodeOfType(type: JsonValue | undefined): ExitCode {
  if (type === "policy_error") return exitCodes.denied;
  return type === "timeout_error" ? exitCodes.unavailable : exitCodes.failed;
}

function printLogs(output: Output, logs: JsonValue | undefined): void {
  if (Array.isArray(logs)) output.note(...logs.map((line) => safeText(String(line))));
}

/** Prints text unchanged, and other values as JSON. */
function printValue({ output }: CliContext, value: JsonValue | undefined): void {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null, undefined, 2);
  output.print(output.isTerminal ? safeText(text) : text);
}

/**
 * Prints one error with its position, or all problems of a definition.
 *
 * @param kind the first word of the error. @default "error"
 */
export function printError(output: Output, error: JsonObject, program: string, kind = "error"): void {
  const details = isJsonObject(error["details"]) ? error["details"] : {};
  printLogs(output, details["logs"]);
  const problems = Array.isArray(details["problems"]) ? details["problems"].filter(isJsonObject) : [];
  const hasPlaces = problems.some((problem) => typeof problem["line"] === "number");
  if (problems.length > 0 && (hasPlaces || problems.length > 1)) {
    for (const problem of problems) output.note(...placeLines(problem, program), "");
  }
  // Problems with places have their codes in their own lines.
  const single = problems.length === 1 ? problems[0]?.["code"] : undefined;
  const code = hasPlaces ? undefined : (details["code"] ?? single);
  const type = `${String(error["type"] ?? "error")}${typeof code === "string" ? ` (${code})` : ""}`;
  const label = output.noteStyle(["bold", "red"], `${kind} ${safeText(type)}`);
  output.note(`${label}: ${safeText(String(error["message"] ?? ""))}`);
  if (problems.length > 0) {
    if (!hasPlaces && problems.length === 1) printHint(output, problems[0]?.["hint"]);
    return;
  }
  if (typeof details["line"] === "number") output.note(...placeLines({ ...details, message: "" }, program));
  else printHint(output, details["hint"]);
  if (typeof error["stack"] === "string") output.note(safeText(error["stack"]));
}

function placeLines(problem: JsonObject, program: string): readonly string[] {
  const { line, column, message, snippet, hint, path, severity, code } = problem;
  const place =
    typeof line === "number"
      ? `${program}:${line}:${String(column ?? 1)}`
      : path === undefined
        ? program
        : String(path) || "the arguments";
  const kind = severity === "warning" ? "warning" : "error";
  const label = typeof code === "string" ? `${kind} ${code}: ` : kind === "warning" ? "warning: " : "";
  const summary = message === "" ? place : `${place}: ${label}${String(message)}`;
  return [
    safeText(summary),
    ...(typeof snippet === "string" && snippet !== "" ? [`    ${safeText(snippet)}`] : []),
    ...(typeof hint === "string" ? [`hint: ${safeText(hint)}`] : []),
  ];
}

/** Prints the warnings about a saved program. */
export function printWarnings(output: Output, warnings: JsonValue | undefined, program: string): void {
  if (!Array.isArray(warnings)) return;
  for (const warning of warnings.filter(isJsonObject)) {
    output.note(...placeLines({ ...warning, severity: "warning" }, program));
  }
}

function printHint(output: Output, hint: JsonValue | undefined): void {
  if (typeof hint === "string") output.note(`${output.noteStyle("cyan", "hint")}: ${safeText(hint)}`);
}
