/**
 * The messages between the gateway and a child that executes a composite: JSON over the
 * IPC channel of the child. The child trusts the parent. The parent does not trust the
 * child: it validates every message, and an invalid one ends the child.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Execution, ExecutionOutcome } from "../execute-composite.ts";
import type { InnerReply } from "../inner-reply.ts";
import { type CompositeError, type ExecutionOptions, isCompositeErrorType } from "../outcome.ts";
import type { CallableTool } from "../tool-directory.ts";

/** To the child: the execution. Sent once. */
export interface ExecuteMessage {
  readonly kind: "execute";
  readonly source: { readonly name: string; readonly text: string };
  readonly params: JsonObject;
  readonly tools: readonly CallableTool[];
  readonly options: ExecutionOptions;
  /** `Execution.startedNs` in digits. */
  readonly startedNs: string;
}

/** To the child: the reply to its inner call number `call`. */
export interface ReplyMessage {
  readonly kind: "reply";
  readonly call: number;
  readonly reply: InnerReply;
}

/** To the parent. */
export type ChildMessage =
  /** The child has loaded all modules. */
  | { readonly kind: "ready" }
  /** Calls the tool with this index in `ExecuteMessage.tools`. */
  | { readonly kind: "call"; readonly call: number; readonly tool: number; readonly params: JsonObject }
  | { readonly kind: "outcome"; readonly outcome: ExecutionOutcome };

/** Creates the message of an execution, with the tools whose names its program uses. */
export function toExecuteMessage({ program, directory, params, options, startedNs }: Execution): {
  readonly message: ExecuteMessage;
  /** The complete tools, in the order of `message.tools`. */
  readonly tools: readonly CallableTool[];
} {
  const used = program.predeclared.includes("tools")
    ? directory.byName.values()
    : program.predeclared.flatMap((name) => [...(directory.namespaces.get(name)?.tools.values() ?? [])]);
  const tools = [...new Set(used)];
  const { name, text } = program.source;
  const message: ExecuteMessage = {
    kind: "execute",
    source: { name, text },
    params,
    tools: tools.map(withoutDetails),
    options,
    startedNs: String(startedNs),
  };
  return { message, tools };
}

/** Reduces a schema to the names of its fields, which the child needs for hints. */
function withoutDetails({
  id,
  namespace,
  name,
  wireName,
  isComposite,
  inputSchema,
}: CallableTool): CallableTool {
  const { required, properties } = inputSchema;
  const names = isJsonObject(properties) ? Object.keys(properties).slice(0, 5) : [];
  return {
    id,
    namespace,
    name,
    wireName,
    isComposite,
    inputSchema: {
      ...(Array.isArray(required) ? { required: required.slice(0, 5) } : undefined),
      properties: Object.fromEntries(names.map((each) => [each, {}])),
    },
  };
}

/** Validates a message of a child; `undefined` when it is invalid. */
export function readChildMessage(message: unknown): ChildMessage | undefined {
  if (!isJsonObject(message)) return undefined;
  switch (message["kind"]) {
    case "ready":
      return { kind: "ready" };
    case "call": {
      const { call, tool, params } = message;
      if (!isCount(call) || !isCount(tool) || !isJsonObject(params)) return undefined;
      return { kind: "call", call, tool, params };
    }
    case "outcome": {
      const outcome = readOutcome(message["outcome"]);
      return outcome === undefined ? undefined : { kind: "outcome", outcome };
    }
    default:
      return undefined;
  }
}

function readOutcome(value: JsonValue | undefined): ExecutionOutcome | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, logs, steps, result, error } = value;
  if (!isCount(steps) || !Array.isArray(logs)) return undefined;
  const lines = logs.filter((line) => typeof line === "string");
  if (lines.length < logs.length) return undefined;
  if (kind === "result") return { kind, result: result ?? null, logs: lines, steps };
  const read = kind === "error" ? readError(error) : undefined;
  return read === undefined ? undefined : { kind: "error", error: read, logs: lines, steps };
}

function readError(value: JsonValue | undefined): CompositeError | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, message, details, stack } = value;
  if (!isCompositeErrorType(type) || typeof message !== "string") return undefined;
  return {
    type,
    message,
    ...(isJsonObject(details) ? { details } : undefined),
    ...(typeof stack === "string" ? { stack } : undefined),
  };
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
