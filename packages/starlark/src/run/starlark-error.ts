/**
 * The errors of a running program. They are made without a place; the machine
 * adds where it happened when it unwinds.
 */

import type { Value } from "../value/value.ts";

/** Why a program ended. Only an `error` and a `tool_error` can be caught by the program. */
export type StarlarkErrorKind =
  | "error"
  /** A host function reported a failure of what it calls. */
  | "tool_error"
  /** Out of steps, memory, depth, output or tool calls. */
  | "resource"
  /** Out of time. */
  | "timeout"
  | "cancelled"
  /** The engine itself is wrong; please report it. */
  | "internal";

/** One call that was under way. */
export interface StackEntry {
  /** The function's name, `<toplevel>`, `lambda`, or a builtin's name. */
  readonly function: string;
  /** The source's name; `<builtin>` for builtins. */
  readonly file: string;
  /** 1-based; absent for builtins. */
  readonly lineNumber?: number;
  /** 1-based. */
  readonly columnNumber?: number;
  /** Offset in the source. */
  readonly offset?: number;
}

/** What may be said of an error beside its message. */
export interface StarlarkErrorDetails {
  readonly kind?: StarlarkErrorKind;
  /** How to fix it. */
  readonly hint?: string;
  /** The tool that failed, of a `tool_error`. */
  readonly tool?: string;
  /** More, for the program as `e.details`; frozen. @default None */
  readonly details?: Value;
  readonly cause?: unknown;
}

/** A program failed, or may not go on. */
export class StarlarkError extends Error {
  override readonly name = "StarlarkError";
  readonly kind: StarlarkErrorKind;
  readonly hint: string | undefined;
  readonly tool: string | undefined;
  readonly detailsValue: Value;
  /** Outermost call first; filled in when the error leaves the program. */
  stackEntries: readonly StackEntry[] = [];

  constructor(message: string, details: StarlarkErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = details.kind ?? "error";
    this.hint = details.hint;
    this.tool = details.tool;
    this.detailsValue = details.details ?? null;
  }

  /** Whether `try`, `except` and `attempt` may catch it. */
  get catchable(): boolean {
    return this.kind === "error" || this.kind === "tool_error";
  }

  /**
   * The calls that were under way, as go.starlark.net writes them:
   * `Traceback (most recent call last):`, a line for each, and the message.
   */
  get traceback(): string {
    const lines = ["Traceback (most recent call last):"];
    for (const entry of this.stackEntries) {
      const place = entry.lineNumber === undefined ? "" : `:${entry.lineNumber}:${entry.columnNumber}`;
      lines.push(`  ${entry.file}${place}: in ${entry.function}`);
    }
    // A builtin is named in its messages and not in the stack.
    const [, builtin, message] = /^([a-z_]+): (.*)$/s.exec(this.message) ?? [];
    lines.push(builtin === undefined ? `Error: ${this.message}` : `Error in ${builtin}: ${message}`);
    return lines.join("\n");
  }
}
