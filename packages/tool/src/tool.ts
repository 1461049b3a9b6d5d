/**
 * The model of a tool: listed by its source; indexed, searched, authorized and
 * called by the gateway. Data only; nothing here does I/O.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { type Identity, isOperator, isSameIdentity } from "./identity.ts";

/** The kind of source that provides a tool (ARCHITECTURE.md, origins). */
export type Origin = "local" | "server" | "toolspec" | "package" | "saved" | "meta";

/** `namespace:name` or `namespace:name:version`. Unique in a gateway. */
export type ToolId = string;

/** Annotations of a tool by its server (MCP `ToolAnnotations`): claims that nothing verifies. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** The definition of a tool that a model receives (MCP `Tool`), spelled as on the wire. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Whether calls of it run as tasks (2025-11-25, tasks). */
  readonly execution?: { readonly taskSupport?: string };
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
  /** Fields of later revisions are passed on unchanged. */
  readonly [field: string]: unknown;
}

/** A tool, as listed by its source. `definition.name` is the name of the tool at its source. */
export interface Tool {
  readonly id: ToolId;
  readonly namespace: string;
  readonly version?: string;
  /** Normalized: lower case, unique, sorted (`normalizeTags`). */
  readonly tags: readonly string[];
  readonly origin: Origin;
  /** `ToolSource.id` of the source that lists and executes it. */
  readonly sourceId: string;
  readonly definition: ToolDefinition;
  /** Texts that show its use, which search reads: examples, and names of tests. @default none */
  readonly examples?: readonly string[];
  /**
   * The only client that lists and finds it, besides the operator; or a function that decides for each client, the
   * operator included. @default every client that may use it
   */
  readonly listedFor?: Identity | ((identity: Identity) => boolean);
}

/** Whether `identity` lists and finds a tool that it may use. */
export function isListedFor({ listedFor }: Pick<Tool, "listedFor">, identity: Identity): boolean {
  if (typeof listedFor === "function") return listedFor(identity);
  return listedFor === undefined || isSameIdentity(listedFor, identity) || isOperator(identity);
}

/** One block of a result (MCP `ContentBlock`): `type` is text, image, audio, resource_link or resource. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: JsonValue | undefined;
}

/** The result of a call (MCP `CallToolResult`). A tool that failed sets `isError: true`. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  /** Any JSON value since revision 2026-07-28; an object in earlier revisions. */
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
  readonly [field: string]: unknown;
}

/** Whether a result is questions to the client (`InputRequiredResult` of 2026-07-28) and not the end of the call. */
export function isInputRequired(result: { readonly [member: string]: unknown }): boolean {
  return result["resultType"] === "input_required";
}

/** Creates a result with one text block. */
export function textResult(text: string, isError = false): ToolResult {
  return isError
    ? { content: [{ type: "text", text }], isError: true }
    : { content: [{ type: "text", text }] };
}

/** The reason why a call failed, with a hint. A `CodedError` has this shape. */
export interface CallFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Creates the result of a failed call, so that a model sees the reason: the hint on its own line, code and call id in `_meta`. */
export function failedResult({ code, message, hint }: CallFailure, callId: string): ToolResult {
  return {
    ...textResult(hint === undefined ? message : `${message}\nHint: ${hint}`, true),
    _meta: { "toolcrib/code": code, "toolcrib/callId": callId },
  };
}

/** Creates a `ToolId`. */
export function toToolId(namespace: string, name: string, version?: string): ToolId {
  const id = namespace === "" ? name : `${namespace}:${name}`;
  return version === undefined ? id : `${id}:${version}`;
}

/** Normalizes tags: trimmed, lower case, white space replaced by `-`, unique, sorted, without empty ones. */
export function normalizeTags(tags: Iterable<string>): readonly string[] {
  const normal = new Set<string>();
  for (const tag of tags) {
    const one = tag.trim().toLowerCase().replace(/\s+/g, "-");
    if (one !== "") normal.add(one);
  }
  return [...normal].sort();
}
