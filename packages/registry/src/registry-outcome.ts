/** Outcomes of calls as the values and errors of a registry (registry document, Result Mapping). Pure. */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { CallOutcome } from "@toolcrib/gateway";
import type { ToolId, ToolResult } from "@toolcrib/tool";
import type { RegistryCode } from "./codes.ts";
import { RegistryError } from "./registry-error.ts";

/** Returns the value of a successful call. @throws {RegistryError} for any other outcome */
export function toRegistryValue(id: ToolId, outcome: CallOutcome): unknown {
  if (outcome.kind === "result" && outcome.result.isError !== true) return mapResult(outcome.result);
  throw toRegistryError(id, outcome);
}

function mapResult({ content, structuredContent }: ToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [only] = content;
  return content.length === 1 && only?.type === "text" ? only["text"] : content;
}

/** Codes of the gateway that have a code of their own in a registry, with the same message. */
const mappedCodes: ReadonlyMap<string, RegistryCode> = new Map([
  ["TOOL_UNAVAILABLE", "REGISTRY_TOOL_NOT_FOUND"],
  ["PARAMS_INVALID", "REGISTRY_INVALID_REQUEST"],
  ["REGISTRY_HANDLER_NOT_FOUND", "REGISTRY_HANDLER_NOT_FOUND"],
  ["BACKEND_NOT_FOUND", "REGISTRY_BACKEND_NOT_FOUND"],
]);

function toRegistryError(id: ToolId, outcome: CallOutcome): RegistryError {
  if (outcome.kind === "denied") {
    return new RegistryError("REGISTRY_EXECUTION_FAILED", `Cannot execute "${id}": ${outcome.reason}`, {
      hint: outcome.hint,
      data: { cause: outcome.code },
    });
  }
  if (outcome.kind === "result") {
    const text = outcome.result.content.map((block) => block["text"] ?? `[${block.type}]`).join("\n");
    return new RegistryError("REGISTRY_EXECUTION_FAILED", `"${id}" failed: ${text}`, {
      data: { callId: outcome.callId },
    });
  }
  return fromCallError(id, outcome.error);
}

function fromCallError(id: ToolId, error: Error): RegistryError {
  if (error instanceof RegistryError) return error;
  if (!isCodedError(error)) {
    return new RegistryError("REGISTRY_EXECUTION_FAILED", `"${id}" failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (error.code === "TOOL_NOT_FOUND") {
    return new RegistryError("REGISTRY_TOOL_NOT_FOUND", `No tool has the id "${id}"`, {
      hint: "see listTools() and search()",
    });
  }
  const code = mappedCodes.get(error.code);
  if (code !== undefined) return new RegistryError(code, error.message, { cause: error });
  return new RegistryError("REGISTRY_EXECUTION_FAILED", `"${id}" failed: ${error.message}`, {
    cause: error,
    hint: error.hint,
    data: { ...error.data, cause: error.code },
  });
}
