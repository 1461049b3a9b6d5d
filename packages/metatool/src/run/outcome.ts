/** What an execution of a composite comes to (document 003, Response Format and Error Response Format). */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** One inner call, for the caller and the audit. */
export interface ToolCallRecord {
  /** `namespace.name`, as the program wrote it. */
  readonly tool: string;
  readonly params: JsonValue;
  /** What the call gave, or `{ error: message }`; cut when it is long (`{ truncated: true, bytes }`). */
  readonly result: JsonValue;
}

/** Error types of document 003, and `policy_error` for what the caller may not do. */
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

/** All of them. */
export const compositeErrorTypes: readonly string[] = Object.keys(isErrorType);

/** Whether `value` is one of them. */
export function isCompositeErrorType(value: unknown): value is CompositeErrorType {
  return typeof value === "string" && Object.hasOwn(isErrorType, value);
}

/** A failed execution. */
export interface CompositeError {
  readonly type: CompositeErrorType;
  readonly message: string;
  /** `line`, `column`, `snippet`, `hint`, `tool`, `problems` and the like. */
  readonly details?: JsonObject;
  /** The traceback; in debug mode only. */
  readonly stack?: string;
}

/** What came of an execution. `logs` and `toolCalls` are there for failures too. */
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

/** How composites are executed (document 003, `execution`). All finite; each documented where it is configured. */
export interface ExecutionOptions {
  /** @default 30,000 */
  readonly timeoutMs: number;
  /** @default 134,217,728 */
  readonly memoryBytes: number;
  /** @default 10,000,000 */
  readonly steps: number;
  /** Calls within calls of the program's functions. @default 200 */
  readonly callDepth: number;
  /** Inner tool calls of one execution. @default 100 */
  readonly toolCalls: number;
  /** Inner calls under way at a time. @default 8 */
  readonly parallelWidth: number;
  /** Bytes of `print`. @default 65,536 */
  readonly logBytes: number;
  /** Bytes of the result as JSON. @default 1,048,576 */
  readonly resultBytes: number;
  /** Whether errors carry their stack. @default false */
  readonly debug: boolean;
  /** `process` runs each execution in a child of its own. @default "none" */
  readonly isolation: "none" | "process";
}
