/**
 * Errors of a running program. They are created without a position; the machine adds
 * it when it unwinds.
 */

import type { Value } from "../value/value.ts";

/** The kind of error that ended a program. The program can catch only `error` and `tool_error`. */
export type StarlarkErrorKind =
  | "error"
  /** A host function reported that the tool it calls failed. */
  | "tool_error"
  /** A limit on steps, memory, depth, output or tool calls was reached. */
  | "resource"
  /** The wall time was used up. */
  | "timeout"
  | "cancelled"
  /** A defect of the engine; please report it. */
  | "internal";

/** One call in a stack. */
export interface StackEntry {
  /** The name of the function, `<toplevel>`, `lambda`, or the name of a builtin. */
  readonly function: string;
  /** The name of the source; `<builtin>` for builtins. */
  readonly file: string;
  /** 1-based; absent for builtins. */
  readonly lineNumber?: number;
  /** 1-based. */
  readonly columnNumber?: number;
  /** Offset in the source. */
  readonly offset?: number;
}

/** Details of an error in addition to its message. */
export interface StarlarkErrorDetails {
  readonly kind?: StarlarkErrorKind;
  /** The remedy. */
  readonly hint?: string;
  /** The tool that failed, for a `tool_error`. */
  readonly tool?: string;
  /** More details, available to the program as `e.details`; frozen. @default None */
  readonly details?: Value;
  readonly cause?: unknown;
}

/** The error of a program that failed or reached a limit. */
export class StarlarkError extends Error {
  override readonly name = "StarlarkError";
  readonly kind: StarlarkErrorKind;
  readonly hint: string | undefined;
  readonly tool: string | undefined;
  readonly detailsValue: Value;
  /** The stack, from the outermost call in; set when the error is thrown in a frame. */
  stackEntries: readonly StackEntry[] = [];

  constructor(message: string, details: StarlarkErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = details.kind ?? "error";
    this.hint = details.hint;
    this.tool = details.tool;
    this.detailsValue = details.details ?? null;
  }

  /** Whether `try`, `except` and `attempt` can catch the error. */
  get catchable(): boolean {
    return this.kind === "error" || this.kind === "tool_error";
  }

  /**
   * The stack in the format of go.starlark.net: `Traceback (most recent call last):`,
   * a line for each call, and the message.
   */
  get traceback(): string {
    const lines = ["Traceback (most recent call last):"];
    for (const entry of this.stackEntries) {
      const place = entry.lineNumber === undefined ? "" : `:${entry.lineNumber}:${entry.columnNumber}`;
      lines.push(`  ${entry.file}${place}: in ${entry.function}`);
    }
    // Messages name the builtin, so the stack does not.
    const [, builtin, message] = /^([a-z_]+): (.*)$/s.exec(this.message) ?? [];
    lines.push(builtin === undefined ? `Error: ${this.message}` : `Error in ${builtin}: ${message}`);
    return lines.join("\n");
  }
}
