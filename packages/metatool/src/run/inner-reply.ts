/**
 * The reply to an inner call, as a composite sees it: one value, or one error. Pure.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { ContentBlock, ToolResult } from "@toolcrib/tool";
import type { CatalogTool } from "./catalog.ts";
import { displayName } from "./tool-directory.ts";

/** The reply to an inner call. */
export type InnerReply =
  | { readonly kind: "value"; readonly value: JsonValue }
  /** The tool failed: what `except ToolError` catches. */
  | { readonly kind: "error"; readonly message: string; readonly details?: JsonObject }
  /** The caller may not make this call: an `Error` for the program, `policy_error` when it is not caught. */
  | { readonly kind: "denied"; readonly message: string; readonly details?: JsonObject }
  /** A limit of the execution is exceeded. The program cannot catch it. */
  | { readonly kind: "limit"; readonly message: string; readonly hint?: string };

/** Codes of the host that have their own kind of reply. */
const denialCodes: ReadonlySet<string> = new Set(["POLICY_DENIED", "POLICY_UNAVAILABLE"]);
const limitCodes: ReadonlySet<string> = new Set(["CALL_TOO_DEEP"]);

const messageMaxLength = 4000;

/**
 * Returns the value of a result: `structuredContent` if present, else a single text
 * parsed as JSON when it is JSON, else the text, else the list of content. For a
 * saved tool it is the value that its program returned.
 */
export function toInnerReply(tool: CatalogTool, result: ToolResult): InnerReply {
  if (result.isError === true) return toFailure(tool, result);
  const { structuredContent } = result;
  if (tool.isComposite && isJsonObject(structuredContent) && Object.hasOwn(structuredContent, "result")) {
    return { kind: "value", value: structuredContent["result"] ?? null };
  }
  if (structuredContent !== undefined) return { kind: "value", value: structuredContent };
  // Servers of the first MCP revision return no content.
  const content = result.content ?? [];
  const [block] = content;
  if (content.length === 1 && block?.type === "text" && typeof block["text"] === "string") {
    return { kind: "value", value: parseText(block["text"]) };
  }
  return { kind: "value", value: content as readonly ContentBlock[] as JsonValue };
}

/** Returns the reply to an inner call that failed in the host. */
export function toInnerFailure(tool: CatalogTool, thrown: unknown): InnerReply {
  const message = cut(messageOf(thrown));
  if (!isCodedError(thrown)) return { kind: "error", message: `${displayName(tool)}: ${message}` };
  const { code, hint } = thrown;
  if (limitCodes.has(code)) return { kind: "limit", message, hint };
  const details = hint === undefined ? { code } : { code, hint };
  return { kind: denialCodes.has(code) ? "denied" : "error", message, details };
}

function toFailure(tool: CatalogTool, { content, structuredContent, _meta }: ToolResult): InnerReply {
  if (tool.isComposite && isJsonObject(structuredContent) && isJsonObject(structuredContent["error"])) {
    // The error of a saved tool is passed on unchanged, and a denial in it stays a denial.
    const { error } = structuredContent;
    const kind = error["type"] === "policy_error" ? "denied" : "error";
    return { kind, message: cut(String(error["message"] ?? "it failed")), details: error };
  }
  const texts = (content ?? []).flatMap((block) =>
    typeof block["text"] === "string" ? [block["text"]] : [],
  );
  const text = texts.join("\n").trim();
  const message = text === "" ? `${displayName(tool)} failed and did not say why` : cut(text);
  const code = _meta?.["toolcrib/code"];
  const details: { [name: string]: JsonValue } = {};
  if (typeof code === "string") details["code"] = code;
  if (structuredContent !== undefined) details["structuredContent"] = structuredContent;
  return Object.keys(details).length === 0 ? { kind: "error", message } : { kind: "error", message, details };
}

/** The characters that a JSON text can begin with. */
const jsonStart = /^\s*[[{"\-0-9tfn]/;

function parseText(text: string): JsonValue {
  if (!jsonStart.test(text)) return text;
  try {
    const value = parseJson(text);
    // An id of twenty digits stays a text, because a number would lose digits.
    if (typeof value === "number" && !Number.isSafeInteger(value) && String(value) !== text.trim())
      return text;
    return value;
  } catch (error) {
    if (error instanceof JsonError) return text;
    throw error;
  }
}

function cut(text: string): string {
  return text.length <= messageMaxLength ? text : `${text.slice(0, messageMaxLength - 1).toWellFormed()}…`;
}
