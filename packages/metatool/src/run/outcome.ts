/** The outcome of an execution of a composite (document 003, Response Format and Error Response Format). */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** One inner call, for the caller and the audit. */
export interface ToolCallRecord {
  /** `namespace.name`, as the program wrote it. */
  readonly tool: string;
  readonly params: JsonValue;
  /** The result of the inner call, or `{ error: message }`; `{ truncated: true, bytes }` when it is long. */
  readonly result: JsonValue;
}

/** Error types of document 003, and `policy_error` for denied calls. */
export type CompositeErrorType =
  | "validation_error"
  | "runtime_error"
  | "tool_error"
  | "timeout_error"
  | "resource_error"
  | "policy_error";

const isErrorType: { readonly [Type in CompositeErrorType]: true } = {
  validation_error: true,
  runtime_error: true,
  tool_error: true,
  timeout_error: true,
  resource_error: true,
  policy_error: true,
};

/** All error types. */
export const compositeErrorTypes: readonly string[] = Object.keys(isErrorType);

/** Returns whether `value` is an error type. */
export function isCompositeErrorType(value: unknown): value is CompositeErrorType {
  return typeof value === "string" && Object.hasOwn(isErrorType, value);
}

/** A failed execution. */
export interface CompositeError {
  readonly type: CompositeErrorType;
  readonly message: string;
  /** `line`, `column`, `snippet`, `hint`, `tool`, `problems` and similar members. */
  readonly details?: JsonObject;
  /** The traceback, in debug mode only. */
  readonly stack?: string;
}

/** The outcome of an execution. Failures have `logs` and `toolCalls`, too. */
export type CompositeOutcome = {
  readonly logs: readonly string[];
  /** Milliseconds. */
  readonly executionTime: number;
  readonly toolCalls: readonly ToolCallRecord[];
  /** Steps of the program; deterministic. */
  readonly steps: number;
} & (
  | { readonly kind: "result"; readonly result: JsonValue }
  | { readonly kind: "error"; readonly error: CompositeError }
);

/** Limits of executions (document 003, `execution`). All are finite; the configuration documents each. */
export interface ExecutionOptions {
  /** @default 30,000 */
  readonly timeoutMs: number;
  /** @default 134,217,728 */
  readonly memoryBytes: number;
  /** @default 10,000,000 */
  readonly steps: number;
  /** Depth of function calls in the program. @default 200 */
  readonly callDepth: number;
  /** Inner tool calls of one execution. @default 100 */
  readonly toolCalls: number;
  /** Inner calls in flight at a time. @default 8 */
  readonly parallelWidth: number;
  /** Bytes of `print`. @default 65,536 */
  readonly logBytes: number;
  /** Bytes of the result as JSON. @default 1,048,576 */
  readonly resultBytes: number;
  /** Whether errors carry their stack. @default false */
  readonly debug: boolean;
  /** `process` runs each execution in its own child process. @default "none" */
  readonly isolation: "none" | "process";
}
