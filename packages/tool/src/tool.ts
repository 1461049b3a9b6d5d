/**
 * The Tool model: what every origin of tools lists and what the gateway
 * indexes, searches, authorises and calls. Data only; nothing here does I/O.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";

/** Where a tool comes from (ARCHITECTURE.md, origins). */
export type Origin = "local" | "server" | "toolspec" | "package" | "saved" | "meta";

/** `namespace:name` or `namespace:name:version`. Unique in a gateway. */
export type ToolId = string;

/** What a server says of its tool (MCP `ToolAnnotations`): claims, not facts. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** What a model sees of a tool (MCP `Tool`), spelled as on the wire. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
  /** Fields of newer revisions are kept and passed on as they came. */
  readonly [field: string]: unknown;
}

/** A tool as its source lists it. `definition.name` is the source's own name for it. */
export interface Tool {
  readonly id: ToolId;
  readonly namespace: string;
  readonly version?: string;
  /** Normalised: lower case, unique, sorted (`normalizeTags`). */
  readonly tags: readonly string[];
  readonly origin: Origin;
  /** `ToolSource.id` of the source that lists and executes it. */
  readonly sourceId: string;
  readonly definition: ToolDefinition;
}

/** One piece of a result (MCP `ContentBlock`): `type` is text, image, audio, resource_link or resource. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: JsonValue | undefined;
}

/** What a call returns (MCP `CallToolResult`). A tool that failed says `isError: true`. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  /** Any JSON value since revision 2026-07-28; an object before. */
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
  readonly [field: string]: unknown;
}

/** A result that holds one text. */
export function textResult(text: string, isError = false): ToolResult {
  return isError
    ? { content: [{ type: "text", text }], isError: true }
    : { content: [{ type: "text", text }] };
}

/** Why a call came to nothing, and what to do about it. A `CodedError` is one. */
export interface CallFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A call that came to nothing as a result, so that a model sees why: the hint in a line of its own, code and call in `_meta`. */
export function failedResult({ code, message, hint }: CallFailure, callId: string): ToolResult {
  return {
    ...textResult(hint === undefined ? message : `${message}\nHint: ${hint}`, true),
    _meta: { "toolcrib/code": code, "toolcrib/callId": callId },
  };
}

/** Write a `ToolId`. */
export function toToolId(namespace: string, name: string, version?: string): ToolId {
  const id = namespace === "" ? name : `${namespace}:${name}`;
  return version === undefined ? id : `${id}:${version}`;
}

/** Tags in their one form: trimmed, lower case, white space to `-`, unique, sorted, no empty ones. */
export function normalizeTags(tags: Iterable<string>): readonly string[] {
  const normal = new Set<string>();
  for (const tag of tags) {
    const one = tag.trim().toLowerCase().replace(/\s+/g, "-");
    if (one !== "") normal.add(one);
  }
  return [...normal].sort();
}
