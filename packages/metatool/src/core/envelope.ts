/**
 * Converts outcomes to results of MCP tools: the response and the error of document
 * 003, as structured content and as the same JSON in text. Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";
import type { CompositeError, CompositeOutcome } from "../run/outcome.ts";

const errorSchema: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string" },
    message: { type: "string" },
    details: { type: "object" },
    stack: { type: "string" },
  },
  required: ["type", "message"],
};

/** Returns the schema of an answer that has all of `properties`, or an error instead: clients validate errors with it, too. */
export function orError(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return {
    type: "object",
    properties: { ...properties, error: errorSchema },
    anyOf: [{ required }, { required: ["error"] }],
  };
}

/** Schema of the answer of a composite. */
export const responseSchema: JsonObject = orError({
  result: { description: "What the program returned" },
  logs: { type: "array", items: { type: "string" }, description: "What it printed" },
  executionTime: { type: "number", description: "Milliseconds" },
  toolCalls: {
    type: "array",
    items: {
      type: "object",
      properties: { tool: { type: "string" }, params: {}, result: {} },
      required: ["tool", "params", "result"],
    },
  },
});

/** Returns the answer of an execution. */
export function toResponse(outcome: CompositeOutcome): ToolResult {
  const { logs, executionTime, toolCalls } = outcome;
  const calls = toolCalls.map((call): JsonObject => ({ ...call }));
  if (outcome.kind === "result") {
    return toJsonResult({ result: outcome.result, logs, executionTime, toolCalls: calls });
  }
  const { error } = outcome;
  const more = {
    ...(logs.length === 0 ? undefined : { logs }),
    ...(calls.length === 0 ? undefined : { toolCalls: calls }),
  };
  const hasDetails = error.details !== undefined || Object.keys(more).length > 0;
  return toErrorResponse(hasDetails ? { ...error, details: { ...error.details, ...more } } : error);
}

/** Returns the answer of a failure. */
export function toErrorResponse({ type, message, details, stack }: CompositeError): ToolResult {
  const error: JsonObject = {
    type,
    message,
    ...(details === undefined ? undefined : { details }),
    ...(stack === undefined ? undefined : { stack }),
  };
  return { ...toJsonResult({ error }), isError: true };
}

/** Returns a JSON result. @param text content of the text, when it differs from the structured content */
export function toJsonResult(structuredContent: JsonObject, text: JsonValue = structuredContent): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(text) }], structuredContent };
}
