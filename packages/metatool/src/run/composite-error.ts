/**
 * Errors of the language as the errors of document 003: their type, and in
 * `details` the place, the line, what to do about it and the tool that failed.
 * Pure.
 */

import { type Diagnostic, lineText, positionAt, type Source } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
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

/** An inner call that the program waits for. */
export interface Wait {
  readonly tool: string;
  /** Offset in the source of where it was made. */
  readonly at: number;
}

/**
 * The error of a program that ended with `thrown`.
 *
 * @param wait what it waited for, to say where it stood when its time was over.
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

/** Where in the code it happened: the innermost call that stands there. */
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
  const problem = { ...toPlace(source, span?.start ?? 0), message, code };
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
