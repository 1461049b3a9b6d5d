/**
 * Selects the part of a response that a tool returns: the result of `select`,
 * reduced to `fields` in each object. Does not evaluate JSONPath itself.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ToolspecFields, ToolspecSelection } from "../spec/toolspec.ts";
import type { SelectJson } from "./map-response.ts";

/** Applies `selection` to `value`. One selected value is returned itself, any other number as a list. */
export function selectResponse(
  value: JsonValue,
  { select: path, fields }: ToolspecSelection,
  select: SelectJson,
): JsonValue {
  if (path === undefined) return keep(value, fields, select);
  const found = select(path, value).map((one) => keep(one, fields, select));
  return found.length === 1 ? (found[0] ?? null) : found;
}

/** Reduces an object, or each object of a list, to its fields. */
function keep(value: JsonValue, fields: ToolspecFields | undefined, select: SelectJson): JsonValue {
  if (fields === undefined) return value;
  if (Array.isArray(value))
    return value.map((item: JsonValue) => (isJsonObject(item) ? keepFields(item, fields, select) : item));
  return isJsonObject(value) ? keepFields(value, fields, select) : value;
}

function keepFields(object: JsonObject, fields: ToolspecFields, select: SelectJson): JsonValue {
  const kept = Object.entries(fields).flatMap(([name, field]) => {
    const { select: path = "$", fields: own } = typeof field === "string" ? { select: field } : field;
    const found = select(path, object).map((one) => keep(one, own, select));
    if (!isSingular(path)) return [[name, found] as const];
    return found[0] === undefined ? [] : [[name, found[0]] as const];
  });
  // A value without any of the fields is something else, such as an error with status 200.
  const isOther = kept.every(([, value]) => Array.isArray(value) && value.length === 0);
  return isOther ? object : Object.fromEntries(kept);
}

const step = "\\.[A-Za-z_\\u0080-\\u{10ffff}][A-Za-z0-9_\\u0080-\\u{10ffff}]*";
const index = "\\[\\s*(?:-?[0-9]+|'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\")\\s*\\]";
/** A singular query of RFC 9535: names and indices only, so that it selects at most one value. */
const singular = new RegExp(`^\\$(?:\\s*(?:${step}|${index}))*$`, "u");

function isSingular(path: string): boolean {
  return singular.test(path);
}

/** Returns every JSONPath of `selection`. */
export function selectionPaths({ select, fields = {} }: ToolspecSelection): readonly string[] {
  return [
    ...(select === undefined ? [] : [select]),
    ...Object.values(fields).flatMap((field) =>
      typeof field === "string" ? [field] : selectionPaths(field),
    ),
  ];
}
