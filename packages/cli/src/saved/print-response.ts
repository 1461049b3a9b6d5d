/**
 * What a composite answers with, for people: its prints as remarks, its result on
 * standard output, its error with the place in the program.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Output, safeText } from "../output/output.ts";
import { resultLines } from "../tools/print-result.ts";

/** Print the answer of a composite. @param program what its places are in, such as `NAME.star` */
export function printResponse(context: CliContext, result: ToolResult, program: string): ExitCode {
  const { output } = context;
  const envelope = envelopeOf(result);
  output.json(envelope ?? result);
  if (envelope === undefined) {
    // An older gateway, or a tool that is no composite: what it says is shown as it is.
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

/** The structured content of an answer, where it is one of a composite. */
export function envelopeOf({ structuredContent }: ToolResult): JsonObject | undefined {
  return isJsonObject(structuredContent) ? structuredContent : undefined;
}

/** The exit code of an error by its type (Metatool document, Error Types). */
export function exitCodeOfType(type: JsonValue | undefined): ExitCode {
  if (type === "policy_error") return exitCodes.denied;
  return type === "timeout_error" ? exitCodes.unavailable : exitCodes.failed;
}

function printLogs(output: Output, logs: JsonValue | undefined): void {
  if (Array.isArray(logs)) output.note(...logs.map((line) => safeText(String(line))));
}

/** A text as it is, everything else as JSON. */
function printValue({ output }: CliContext, value: JsonValue | undefined): void {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null, undefined, 2);
  output.print(output.isTerminal ? safeText(text) : text);
}

/** Say what went wrong: one error with its place, or all problems of a definition. */
export function printError(output: Output, error: JsonObject, program: string): void {
  const details = isJsonObject(error["details"]) ? error["details"] : {};
  printLogs(output, details["logs"]);
  const problems = Array.isArray(details["problems"]) ? details["problems"].filter(isJsonObject) : [];
  const hasPlaces = problems.some((problem) => typeof problem["line"] === "number");
  if (problems.length > 0 && (hasPlaces || problems.length > 1)) {
    for (const problem of problems) output.note(...placeLines(problem, program), "");
  }
  const label = output.noteStyle(["bold", "red"], `error ${safeText(String(error["type"] ?? "error"))}`);
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
  const { line, column, message, snippet, hint, path, severity } = problem;
  const place =
    typeof line === "number"
      ? `${program}:${line}:${String(column ?? 1)}`
      : path === undefined
        ? program
        : String(path) || "the arguments";
  const told =
    message === "" ? place : `${place}: ${severity === "warning" ? "warning: " : ""}${String(message)}`;
  return [
    safeText(told),
    ...(typeof snippet === "string" && snippet !== "" ? [`    ${safeText(snippet)}`] : []),
    ...(typeof hint === "string" ? [`hint: ${safeText(hint)}`] : []),
  ];
}

/** Say what is doubtful about a program that was saved. */
export function printWarnings(output: Output, warnings: JsonValue | undefined, program: string): void {
  if (!Array.isArray(warnings)) return;
  for (const warning of warnings.filter(isJsonObject)) {
    output.note(...placeLines({ ...warning, severity: "warning" }, program));
  }
}

function printHint(output: Output, hint: JsonValue | undefined): void {
  if (typeof hint === "string") output.note(`${output.noteStyle("cyan", "hint")}: ${safeText(hint)}`);
}
