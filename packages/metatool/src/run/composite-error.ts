/**
 * Converts errors of the language to those of document 003: their type, and in
 * `details` the place, the line, a hint and the failed tool. Pure.
 */

import { type Diagnostic, lineText, positionAt, type Source } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { StarlarkError } from "@toolcrib/starlark";
import type { InnerReply } from "./inner-reply.ts";
import type { CompositeError, CompositeErrorType } from "./outcome.ts";
import type { ArgumentProblem } from "./prepare-arguments.ts";

/** Returns the error that a reply without a value raises in the program. */
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

/** Maximum number of problems in one error. */
const maxProblems = 20;
const snippetMaxLength = 160;

/** A pending inner call of the program. */
export interface Wait {
  readonly tool: string;
  /** Offset of the call in the source. */
  readonly at: number;
}

/**
 * Returns the error of a program that ended with `thrown`.
 *
 * @param wait the pending inner call, to report the place of a timeout.
 */
export function toCompositeError(
  thrown: unknown,
  source: Source,
  { debug, wait }: { readonly debug: boolean; readonly wait: Wait | undefined },
): CompositeError {
  if (!(thrown instanceof StarlarkError)) throw thrown;
  const tool = thrown.tool ?? (thrown.stackEntries.length === 0 ? wait?.tool : undefined);
  const details: JsonObject = {
    ...placeOf(thrown, source, wait),
    ...(thrown.hint === undefined ? undefined : { hint: thrown.hint }),
    ...(tool === undefined ? undefined : { tool }),
    ...(thrown instanceof InnerCallError && thrown.json !== undefined
      ? { toolDetails: thrown.json }
      : undefined),
  };
  return {
    type: typeOfError(thrown),
    message: thrown.message,
    details,
    ...(debug ? { stack: thrown.traceback } : undefined),
  };
}

/** Returns the place in the code: the innermost call. */
function placeOf({ stackEntries }: StarlarkError, source: Source, wait: Wait | undefined): JsonObject {
  const entry = stackEntries.findLast(({ file, offset }) => file === source.name && offset !== undefined);
  const offset = entry?.offset ?? (stackEntries.length === 0 ? wait?.at : undefined);
  return offset === undefined ? {} : toPlace(source, offset);
}

function toPlace({ text }: Source, offset: number): { line: number; column: number; snippet: string } {
  const { lineNumber: line, columnNumber: column } = positionAt(text, offset);
  return { line, column, snippet: snippetAt(text, line, column) };
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

/** Returns whether the deadline of the enclosing call was earlier than that of the execution. */
function isTimeout(reason: unknown): boolean {
  return typeof reason === "object" && reason !== null && "code" in reason && reason.code === "CALL_TIMEOUT";
}

/** Returns the error of code that does not compile, with all findings, the first one first. */
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

/** Converts a finding about code for programs: `line`, `column`, `message`, `snippet`, `hint`, `code`. */
export function toProblem({ span, message, hint, code }: Diagnostic, source: Source): JsonObject {
  const problem = { ...toPlace(source, span?.start ?? 0), message, code };
  return hint === undefined ? problem : { ...problem, hint };
}

/** Returns the error of invalid arguments: each problem with its place, the allowed values and a hint. */
export function toArgumentsError(problems: readonly ArgumentProblem[]): CompositeError {
  const lines = problems.map(({ path, message }) => `${path === "" ? "the arguments" : path} ${message}`);
  const listed: readonly JsonObject[] = problems.map((problem) => ({ ...problem }));
  return {
    type: "validation_error",
    message: `Invalid arguments: ${lines.slice(0, 5).join("; ")}${lines.length > 5 ? `; and ${lines.length - 5} more` : ""}`,
    details: { problems: listed },
  };
}

/** Returns the line of the place without its indentation; an excerpt of a long line. */
function snippetAt(text: string, lineNumber: number, columnNumber: number): string {
  const line = lineText(text, lineNumber);
  if (line.length <= snippetMaxLength) return line.trim();
  const from = Math.max(0, columnNumber - 1 - snippetMaxLength / 2);
  return `${from > 0 ? "…" : ""}${line
    .slice(from, from + snippetMaxLength)
    .toWellFormed()
    .trim()}…`;
}
