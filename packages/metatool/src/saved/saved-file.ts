/**
 * The storage format of the document (version 1.0): parses the text of a file to a
 * saved tool with findings, and formats it. Unknown fields are kept when a file is
 * rewritten. No I/O.
 */

import { hash } from "node:crypto";
import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { findJsonFault, isJsonObject, JsonError, type JsonObject, parseJson } from "@toolcrib/json";
import type { SavedTool, SavedToolDefinition, SavedToolMetadata } from "@toolcrib/store";
import { lintSavedTool, wrongType } from "./lint-saved-tool.ts";
import type { SavedToolLimits } from "./saved-tool.ts";

/** The only version of the format. */
const formatVersion = "1.0";

/** The parsed file of a saved tool. */
export interface SavedFile {
  readonly tool: SavedTool;
  /** All fields of the file, including unknown ones. */
  readonly document: JsonObject;
  /** Equal for files that differ only in counters and unknown fields. */
  readonly digest: string;
}

/**
 * Parses the file of the tool `name`.
 *
 * @param editedAtMs modification time of the file; a later time than in its metadata means that it was edited by hand.
 */
export function parseSavedFile(
  source: Source,
  name: string,
  limits: SavedToolLimits,
  editedAtMs?: number,
): { readonly value?: SavedFile; readonly diagnostics: readonly Diagnostic[] } {
  const { value, fault } = parseText(source);
  if (fault !== undefined) return { diagnostics: [fault] };
  if (!isJsonObject(value)) {
    const message = "Cannot read the saved tool: the file holds something else than an object";
    return { diagnostics: [{ severity: "error", code: "METATOOL_FIELD_INVALID", message, source }] };
  }
  const found = lintDocument(value, name, limits);
  if (found.length > 0) return { diagnostics: found.map((one) => ({ ...one, source })) };
  const tool = toSavedTool(value, editedAtMs);
  const { metadata, ...definition } = tool;
  const digest = hash("sha256", JSON.stringify([definition, metadata.created, metadata.modified]));
  return { value: { tool, document: value, digest }, diagnostics: [] };
}

function parseText(source: Source): { readonly value?: unknown; readonly fault?: Diagnostic } {
  try {
    return { value: parseJson(source.text) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // A message of its own: the span shows the place.
    const isSyntax = error.code === "JSON_INVALID";
    const span = isSyntax ? findJsonFault(source.text)?.span : undefined;
    const message = `Cannot read the saved tool: ${isSyntax ? "its file is not valid JSON from here on" : error.message}`;
    return { fault: { severity: "error", code: "METATOOL_FILE_SYNTAX", message, source, span } };
  }
}

function lintDocument(document: JsonObject, name: string, limits: SavedToolLimits): readonly Diagnostic[] {
  if (document["version"] !== formatVersion) {
    const found = JSON.stringify(document["version"]) ?? "missing";
    const message = `Cannot read the saved tool: its version is ${found.slice(0, 40)}; only "${formatVersion}" is supported`;
    return [{ severity: "error", code: "METATOOL_FILE_VERSION", message, path: "version" }];
  }
  const findings = [...lintSavedTool(document, limits), ...lintMetadata(document["metadata"])];
  if (findings.length === 0 && document["name"] !== name) {
    const message = `Cannot use the saved tool: its name is "${document["name"]}" and that of its file is "${name}.json"`;
    const hint = `name the file "${document["name"]}.json", or the tool "${name}"`;
    findings.push({ severity: "error", code: "METATOOL_FILE_NAME", message, hint, path: "name" });
  }
  return findings;
}

function lintMetadata(metadata: unknown): Diagnostic[] {
  if (!isJsonObject(metadata)) return [wrongType("metadata", "an object", metadata)];
  const { created, modified, executionCount, lastExecuted } = metadata;
  const findings: Diagnostic[] = [];
  const time = 'a time such as "2026-01-31T12:00:00.000Z"';
  if (!isTime(created)) findings.push(wrongType("metadata.created", time, created));
  if (!isTime(modified)) findings.push(wrongType("metadata.modified", time, modified));
  if (!Number.isSafeInteger(executionCount) || Number(executionCount) < 0) {
    findings.push(wrongType("metadata.executionCount", "a whole number, 0 or more", executionCount));
  }
  // Other programs may write null for "never".
  if (lastExecuted !== undefined && lastExecuted !== null && !isTime(lastExecuted)) {
    findings.push(wrongType("metadata.lastExecuted", time, lastExecuted));
  }
  return findings;
}

function isTime(value: unknown): value is string {
  if (typeof value !== "string" || value.length > 40) return false;
  return /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value));
}

/** Converts `document`, which was checked before. */
function toSavedTool(document: JsonObject, editedAtMs: number | undefined): SavedTool {
  const { name, description, inputSchema, code, toolcrib, metadata } = document as unknown as SavedTool;
  const { created, modified, executionCount, lastExecuted } = metadata;
  const isEdited = editedAtMs !== undefined && editedAtMs > Date.parse(modified);
  return {
    name,
    description,
    inputSchema,
    code,
    ...(toolcrib === undefined ? {} : { toolcrib }),
    metadata: {
      created,
      modified: isEdited ? new Date(editedAtMs).toISOString() : modified,
      executionCount,
      ...((lastExecuted ?? null) === null ? {} : { lastExecuted }),
    },
  };
}

/** Formats the file of a tool that replaces `previous`. Unknown fields of `previous` stay. */
export function formatSavedFile(
  definition: SavedToolDefinition,
  metadata: SavedToolMetadata,
  previous: JsonObject = {},
): string {
  const { name, description, inputSchema, code, toolcrib } = definition;
  const known = { version: formatVersion, name, description, inputSchema, code };
  const { toolcrib: _replaced, metadata: oldMetadata, ...others } = previous;
  const { lastExecuted: _kept, ...otherMetadata } = (oldMetadata ?? {}) as JsonObject;
  // Spread twice: the first sets the order of the known fields, the second their values.
  return formatDocument({
    ...known,
    metadata: { ...metadata, ...otherMetadata, ...metadata },
    ...(toolcrib === undefined ? {} : { toolcrib }),
    ...others,
    ...known,
  } as JsonObject);
}

/** Formats the file of `document` with changed counters. */
export function formatWithCounters(
  document: JsonObject,
  counters: Pick<SavedToolMetadata, "executionCount" | "lastExecuted">,
): string {
  return formatDocument({ ...document, metadata: { ...(document["metadata"] as JsonObject), ...counters } });
}

function formatDocument(document: JsonObject): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
