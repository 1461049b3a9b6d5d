/**
 * The searchable text of an input schema: the names and descriptions of its
 * parameters, up to a limit of depth.
 *
 * Reads nested properties, array items, the branches of `anyOf` and similar
 * keywords, and local definitions (`$defs`). References are not followed: their
 * targets inside the schema are read in `$defs`, and nothing else is ever
 * fetched. A schema of any other shape has no text; nothing is thrown.
 */

import { searchLimits } from "./options.ts";

/** The texts of a schema, one line per parameter. */
export interface SchemaText {
  readonly names: string;
  readonly descriptions: string;
}

/** Keywords whose value maps names to schemas, and whether those names are parameters. */
const namedChildren: readonly (readonly [keyword: string, areParameters: boolean])[] = [
  ["properties", true],
  ["$defs", false],
  ["definitions", false],
];

/** Keywords whose value is a schema or a list of schemas. */
const plainChildren = ["items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf"] as const;

/** Maximum number of visited schemas, a limit for wide schemas without parameters. */
const schemasMax = 5_000;

interface Reading {
  readonly names: string[];
  readonly descriptions: string[];
  schemas: number;
  chars: number;
}

/** Returns the names and descriptions of the parameters in `schema`, in document order. */
export function schemaTextOf(schema: unknown): SchemaText {
  const reading: Reading = { names: [], descriptions: [], schemas: 0, chars: 0 };
  readChildren(schema, 1, reading);
  return { names: reading.names.join("\n"), descriptions: reading.descriptions.join("\n") };
}

function readChildren(schema: unknown, depth: number, reading: Reading): void {
  if (depth > searchLimits.schemaMaxDepth || !isRecord(schema)) return;
  for (const [keyword, areParameters] of namedChildren) {
    const children = schema[keyword];
    if (!isRecord(children)) continue;
    for (const name of Object.keys(children)) {
      if (isFull(reading)) return;
      if (areParameters) readParameter(name, children[name], reading);
      readChildren(children[name], depth + 1, reading);
    }
  }
  for (const keyword of plainChildren) {
    const children = schema[keyword];
    if (children === undefined) continue;
    for (const child of Array.isArray(children) ? children : [children]) {
      if (isFull(reading)) return;
      readBranch(child, depth + 1, reading);
    }
  }
}

/** Reads an item or a branch. It has no name, but its description describes the parameter that it belongs to. */
function readBranch(schema: unknown, depth: number, reading: Reading): void {
  if (isRecord(schema)) readDescription(schema, reading);
  readChildren(schema, depth, reading);
}

function readParameter(name: string, schema: unknown, reading: Reading): void {
  reading.names.push(name);
  reading.chars += name.length;
  if (isRecord(schema)) readDescription(schema, reading);
}

function readDescription(schema: Record<string, unknown>, reading: Reading): void {
  const description = schema["description"];
  if (typeof description !== "string") return;
  reading.descriptions.push(description);
  reading.chars += description.length;
}

/** Counts a visit. Returns whether the limits of parameters, schemas and text allow it. */
function isFull(reading: Reading): boolean {
  reading.schemas += 1;
  return (
    reading.names.length >= searchLimits.parametersMax ||
    reading.schemas > schemasMax ||
    reading.chars > 2 * searchLimits.fieldMaxChars
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
