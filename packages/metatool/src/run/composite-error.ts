/**
 * Errors of the language as the errors of document 003: their type, and in
 * `details` the place, the line, what to do about it and the tool that failed.
 * Pure.
 */

import { type Diagnostic, lineText, positionAt, type Source } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { StarlarkError } from "@toolcrib/starlark";
import type { InnerReply } from "./inner-reply.ts";
import type { CompositeError, CompositeErrorType } from "./outcome.ts";
import type { ArgumentProblem } from "./prepare-arguments.ts";

/** What a reply that is no value makes of the program that asked for it. */
export class InnerCallError extends StarlarkError {
  readonly isDenied: boolean;
  /** `e.details`, as JSON. */
  readonly json: JsonObject | undefined;

  constructor(
    tool: string,
    reply: Exclude<InnerReply, { kind: "value" }>,
    details: StarlarkError["detailsValue"],
  ) {
    super(reply.message, {
      kind: reply.kind === "limit" ? "resource" : reply.kind === "error" ? "tool_error" : "error",
      hint: reply.kind === "limit" ? reply.hint : undefined,
      tool,
      details,
    });
    this.isDenied = reply.kind === "denied";
    this.json = reply.kind === "limit" ? undefined : reply.details;
  }
}

/** Most problems that are listed. */
const maxProblems = 20;
const snippetMaxLength = 160;

/** The error of a program that ended with `thrown`. */
export function toCompositeError(thrown: unknown, source: Source, debug: boolean): CompositeError {
  if (!(thrown instanceof StarlarkError)) throw thrown;
  const details: Record<string, JsonValue> = {};
  const place = thrown.stackEntries.findLast(
    ({ file, lineNumber }) => file === source.name && lineNumber !== undefined,
  );
  if (place?.lineNumber !== undefined) {
    details["line"] = place.lineNumber;
    details["column"] = place.columnNumber ?? 1;
    details["snippet"] = snippetAt(source.text, place.lineNumber, place.columnNumber ?? 1);
  }
  if (thrown.hint !== undefined) details["hint"] = thrown.hint;
  if (thrown.tool !== undefined) details["tool"] = thrown.tool;
  if (thrown instanceof InnerCallError && thrown.json !== undefined) details["toolDetails"] = thrown.json;
  return {
    type: typeOfError(thrown),
    message: thrown.message,
    details,
    ...(debug ? { stack: thrown.traceback } : undefined),
  };
}

function typeOfError(error: StarlarkError): CompositeErrorType {
  switch (error.kind) {
    case "error":
      return error instanceof InnerCallError && error.isDenied ? "policy_error" : "runtime_error";
    case "tool_error":
      return "tool_error";
    case "resource":
      return "resource_error";
    case "timeout":
      return "timeout_error";
    case "cancelled":
      return isTimeout(error.cause) ? "timeout_error" : "runtime_error";
    case "internal":
      return "runtime_error";
  }
}

/** The deadline of the call around the execution came before its own. */
function isTimeout(reason: unknown): boolean {
  return typeof reason === "object" && reason !== null && "code" in reason && reason.code === "CALL_TIMEOUT";
}

/** The error of code that is not a program: all of its errors, the first one in front. */
export function toSyntaxError(diagnostics: readonly Diagnostic[], source: Source): CompositeError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const problems = errors.slice(0, maxProblems).map((error) => toProblem(error, source));
  const [first] = problems;
  const count = errors.length;
  return {
    type: "validation_error",
    message:
      count === 1
        ? `The code has an error in line ${first?.["line"] ?? 1}: ${first?.["message"]}`
        : `The code has ${count} errors; the first is in line ${first?.["line"] ?? 1}: ${first?.["message"]}`,
    details: { ...first, problems },
  };
}

/** A finding about code, as programs read it: `line`, `column`, `message`, `snippet`, `hint`, `code`. */
export function toProblem({ span, message, hint, code }: Diagnostic, source: Source): JsonObject {
  const { lineNumber, columnNumber } = positionAt(source.text, span?.start ?? 0);
  const snippet = snippetAt(source.text, lineNumber, columnNumber);
  const problem = { line: lineNumber, column: columnNumber, message, snippet, code };
  return hint === undefined ? problem : { ...problem, hint };
}

/** The error of arguments that do not fit: each with its place, what is allowed and how to mend it. */
export function toArgumentsError(problems: readonly ArgumentProblem[]): CompositeError {
  const lines = problems.map(({ path, message }) => `${path === "" ? "the arguments" : path} ${message}`);
  const listed: readonly JsonObject[] = problems.map((problem) => ({ ...problem }));
  return {
    type: "validation_error",
    message: `The arguments do not fit: ${lines.slice(0, 5).join("; ")}${lines.length > 5 ? `; and ${lines.length - 5} more` : ""}`,
    details: { problems: listed },
  };
}

/** The line that the place is in, without its indentation; of a long one what stands around the place. */
function snippetAt(text: string, lineNumber: number, columnNumber: number): string {
  const line = lineText(text, lineNumber);
  if (line.length <= snippetMaxLength) return line.trim();
  const from = Math.max(0, columnNumber - 1 - snippetMaxLength / 2);
  return `${from > 0 ? "…" : ""}${line
    .slice(from, from + snippetMaxLength)
    .toWellFormed()
    .trim()}…`;
}
