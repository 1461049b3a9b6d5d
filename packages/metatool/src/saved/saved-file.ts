/**
 * The document's storage format (version 1.0): text to saved tool with findings,
 * and back. Fields that this version does not know are kept where a file is
 * written again. No I/O.
 */

import { hash } from "node:crypto";
import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { findJsonFault, isJsonObject, JsonError, type JsonObject, parseJson } from "@toolcrib/json";
import { lintSavedTool, wrongType } from "./lint-saved-tool.ts";
import type { SavedTool, SavedToolDefinition, SavedToolLimits, SavedToolMetadata } from "./saved-tool.ts";

/** The only version of the format there is. */
const formatVersion = "1.0";

/** A saved tool as its file has it. */
export interface SavedFile {
  readonly tool: SavedTool;
  /** All fields of the file, those that are not known here too. */
  readonly document: JsonObject;
  /** Equal for files that differ in nothing but counters and unknown fields. */
  readonly digest: string;
}

/**
 * Read the text of the file of the tool that must be called `name`.
 *
 * @param editedAtMs when the file was last written to, if later than it says itself: somebody edited it.
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
    // In our own words where the place says it all: an engine's quote the text.
    const isSyntax = error.code === "JSON_INVALID";
    const span = isSyntax ? findJsonFault(source.text)?.span : undefined;
    const message = `Cannot read the saved tool: ${isSyntax ? "its file stops being JSON here" : error.message}`;
    return { fault: { severity: "error", code: "METATOOL_FILE_SYNTAX", message, source, span } };
  }
}

function lintDocument(document: JsonObject, name: string, limits: SavedToolLimits): readonly Diagnostic[] {
  if (document["version"] !== formatVersion) {
    const found = JSON.stringify(document["version"]) ?? "missing";
    const message = `Cannot read the saved tool: its version is ${found.slice(0, 40)}; "${formatVersion}" is the only one that is known`;
    return [{ severity: "error", code: "METATOOL_FILE_VERSION", message, path: "version" }];
  }
  const findings = [...lintSavedTool(document, limits), ...lintMetadata(document["metadata"])];
  if (findings.length === 0 && document["name"] !== name) {
    const message = `Cannot use the saved tool: it is called "${document["name"]}" and its file "${name}.json"`;
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
  // Other programs that write this format may say null for "never".
  if (lastExecuted !== undefined && lastExecuted !== null && !isTime(lastExecuted)) {
    findings.push(wrongType("metadata.lastExecuted", time, lastExecuted));
  }
  return findings;
}

function isTime(value: unknown): value is string {
  if (typeof value !== "string" || value.length > 40) return false;
  return /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value));
}

/** `document`, which was found to be right, in our types. */
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

/** The file of a tool that is saved over `previous`, whose unknown fields stay. */
export function formatSavedFile(
  definition: SavedToolDefinition,
  metadata: SavedToolMetadata,
  previous: JsonObject = {},
): string {
  const { name, description, inputSchema, code, toolcrib } = definition;
  const known = { version: formatVersion, name, description, inputSchema, code };
  const { toolcrib: _replaced, metadata: oldMetadata, ...others } = previous;
  const { lastExecuted: _kept, ...otherMetadata } = (oldMetadata ?? {}) as JsonObject;
  // Once for the order and once more for the values: what is known comes first and is what it is now.
  return formatDocument({
    ...known,
    metadata: { ...metadata, ...otherMetadata, ...metadata },
    ...(toolcrib === undefined ? {} : { toolcrib }),
    ...others,
    ...known,
  } as JsonObject);
}

/** The file of `document` with other counters and nothing else changed. */
export function formatWithCounters(
  document: JsonObject,
  counters: Pick<SavedToolMetadata, "executionCount" | "lastExecuted">,
): string {
  return formatDocument({ ...document, metadata: { ...(document["metadata"] as JsonObject), ...counters } });
}

function formatDocument(document: JsonObject): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
