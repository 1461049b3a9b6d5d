/**
 * Checks the fields of a saved tool, from an agent or from a file. It checks types
 * and sizes, not whether the code compiles or the schema is valid.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject } from "@toolcrib/json";
import { lintSavedName } from "./saved-name.ts";
import { resolveSavedToolLimits, type SavedToolLimits } from "./saved-tool.ts";

/**
 * Returns every reason why the store refuses `definition`, except those that depend
 * on other tools.
 */
export function lintSavedTool(
  definition: Readonly<Record<string, unknown>>,
  limits: SavedToolLimits = {},
): readonly Diagnostic[] {
  const { name, description, inputSchema, code, toolcrib } = definition;
  const { codeMaxBytes, descriptionMaxBytes, schemaMaxBytes, toolcribMaxBytes } =
    resolveSavedToolLimits(limits);
  return [
    ...(typeof name === "string" ? lintSavedName(name) : [wrongType("name", "a text", name)]),
    ...lintText("description", description, descriptionMaxBytes),
    ...lintObject("inputSchema", inputSchema, schemaMaxBytes),
    ...lintText("code", code, codeMaxBytes),
    ...lintEmptyCode(code),
    ...(toolcrib === undefined ? [] : lintObject("toolcrib", toolcrib, toolcribMaxBytes)),
  ];
}

function lintText(path: string, value: unknown, maxBytes: number): Diagnostic[] {
  if (typeof value !== "string") return [wrongType(path, "a text", value)];
  return lintSize(path, Buffer.byteLength(value), maxBytes);
}

function lintEmptyCode(code: unknown): Diagnostic[] {
  if (typeof code !== "string" || code.trim() !== "") return [];
  return [fieldFinding("METATOOL_FIELD_INVALID", "code", 'Cannot use "code": it is empty')];
}

function lintObject(path: string, value: unknown, maxBytes: number): Diagnostic[] {
  if (!isJsonObject(value)) return [wrongType(path, "an object", value)];
  try {
    return lintSize(path, Buffer.byteLength(JSON.stringify(value)), maxBytes);
  } catch {
    // A cycle, a BigInt or too many levels: not representable as JSON.
    return [
      fieldFinding("METATOOL_FIELD_INVALID", path, `Cannot use "${path}": it is not representable as JSON`),
    ];
  }
}

function lintSize(path: string, bytes: number, maxBytes: number): Diagnostic[] {
  if (bytes <= maxBytes) return [];
  const message = `Cannot use "${path}": it has ${bytes} bytes; at most ${maxBytes} are allowed`;
  return [fieldFinding("METATOOL_FIELD_TOO_LARGE", path, message)];
}

/** Returns the finding for a field that is missing or not `expected`. */
export function wrongType(path: string, expected: string, value: unknown): Diagnostic {
  const state = value === undefined ? "it is missing" : `it is ${typeName(value)}`;
  return fieldFinding(
    "METATOOL_FIELD_INVALID",
    path,
    `Cannot use "${path}": ${state}; it must be ${expected}`,
  );
}

function fieldFinding(code: string, path: string, message: string): Diagnostic {
  return { severity: "error", code, message, path };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
