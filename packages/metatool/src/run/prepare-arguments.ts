/**
 * Prepares the arguments of a composite (document 003, Parameter Validation): applies
 * the defaults of the schema, coerces types, and checks the result.
 *
 * A value is coerced only when its schema refuses its type, and only in these
 * lossless ways:
 *
 *     "5", "5.5", "1e3"    number, and integer where it is one
 *     "true", "false"      boolean
 *     5, 5.5               string
 *     "[1]", '{"a": 1}'    array, object: a JSON text of that type
 *     null                 absent, for an optional property
 *
 * When a schema allows several types and more than one coercion is possible, the
 * value stays unchanged. Pure; never modifies the given arguments.
 */

import { nearestName } from "@toolcrib/diagnostics";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SchemaProblem,
  type SchemaValidator,
} from "@toolcrib/json";
import { coerce, jsonTypeOf, typesOf } from "./coerce-value.ts";
import { resolveReference, subschemaAt } from "./schema-walk.ts";

/** A problem of the arguments. */
export interface ArgumentProblem {
  /** JSON Pointer into the arguments; empty for the arguments themselves. */
  readonly path: string;
  /** The problem and the allowed values, such as `must be integer, got the string "many"`. */
  readonly message: string;
  /** The remedy, if known. */
  readonly hint?: string;
}

/** Prepared arguments, or all their problems. */
export type PreparedArguments =
  | { readonly kind: "valid"; readonly params: JsonObject }
  | { readonly kind: "invalid"; readonly problems: readonly ArgumentProblem[] };

/** Maximum number of values and levels that are coerced. Values beyond are only checked. */
const maxVisits = 100_000;
const maxDepth = 64;

/** Applies the defaults of `inputSchema`, coerces refused types, and checks the result. */
export function prepareArguments(
  validator: SchemaValidator,
  inputSchema: JsonObject,
  args: JsonObject,
): PreparedArguments {
  const walk: Walk = { root: inputSchema, visitsLeft: maxVisits };
  const prepared = prepare(args, inputSchema, walk, 0);
  const params = isJsonObject(prepared) ? prepared : args;
  const verdict = validator.validate(inputSchema, params);
  switch (verdict.kind) {
    case "valid":
      return { kind: "valid", params };
    case "invalid":
      return {
        kind: "invalid",
        problems: verdict.problems.map((problem) => explain(problem, inputSchema, params)),
      };
    case "unusable": {
      const message = `cannot be checked, because the tool's input schema cannot be used: ${verdict.reason}`;
      return {
        kind: "invalid",
        problems: [{ path: "", message, hint: "save the tool again with a valid schema" }],
      };
    }
  }
}

interface Walk {
  readonly root: JsonObject;
  visitsLeft: number;
}

/** Returns `value` with defaults and coercions of `schema`; the same object when nothing changes. */
function prepare(value: JsonValue, schema: JsonValue | undefined, walk: Walk, depth: number): JsonValue {
  walk.visitsLeft -= 1;
  if (depth > maxDepth || walk.visitsLeft < 0) return value;
  const resolved = resolveReference(schema, walk.root);
  if (resolved === undefined) return value;
  let prepared = coerce(value, resolved, walk.root);
  if (isJsonObject(prepared)) prepared = prepareObject(prepared, resolved, walk, depth);
  else if (Array.isArray(prepared)) prepared = prepareArray(prepared, resolved, walk, depth);
  if (Array.isArray(resolved["allOf"])) {
    for (const part of resolved["allOf"] as readonly JsonValue[])
      prepared = prepare(prepared, part, walk, depth + 1);
  }
  return prepareAlternatives(prepared, resolved, walk, depth);
}

function prepareObject(value: JsonObject, schema: JsonObject, walk: Walk, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly JsonValue[]) : [];
  const members = new Map<string, JsonValue>();
  let isChanged = false;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (member === null && own !== undefined && !required.includes(name) && refusesNull(own, walk.root)) {
      isChanged = true;
      continue;
    }
    const prepared = prepare(member, own ?? schema["additionalProperties"], walk, depth + 1);
    isChanged ||= prepared !== member;
    members.set(name, prepared);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (members.has(name)) continue;
    const fallback = defaultOf(property, walk.root);
    if (fallback === undefined) continue;
    isChanged = true;
    members.set(name, prepare(fallback, property, walk, depth + 1));
  }
  // Object.defineProperty semantics: a key of any name is a member, also `__proto__`.
  return isChanged ? (Object.fromEntries(members) as JsonObject) : value;
}

/** Returns the default of a property: its own, else that of its `$ref`. */
function defaultOf(property: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  const own = isJsonObject(property) ? property["default"] : undefined;
  return own === undefined ? resolveReference(property, root)?.["default"] : own;
}

function prepareArray(
  value: readonly JsonValue[],
  schema: JsonObject,
  walk: Walk,
  depth: number,
): readonly JsonValue[] {
  const first = Array.isArray(schema["prefixItems"]) ? (schema["prefixItems"] as readonly JsonValue[]) : [];
  const rest = schema["items"];
  let isChanged = false;
  const items = value.map((item, index) => {
    const prepared = prepare(item, first[index] ?? rest, walk, depth + 1);
    isChanged ||= prepared !== item;
    return prepared;
  });
  return isChanged ? items : value;
}

/** Returns the alternative whose type matches the value; none when several match. */
function prepareAlternatives(value: JsonValue, schema: JsonObject, walk: Walk, depth: number): JsonValue {
  for (const keyword of ["anyOf", "oneOf"]) {
    const alternatives = schema[keyword];
    if (!Array.isArray(alternatives)) continue;
    const type = jsonTypeOf(value);
    const fitting = (alternatives as readonly JsonValue[]).filter((one) => {
      const types = typesOf(resolveReference(one, walk.root));
      return types.includes(type) || (type === "integer" && types.includes("number"));
    });
    if (fitting.length === 1) return prepare(value, fitting[0], walk, depth + 1);
  }
  return value;
}

function refusesNull(property: JsonValue, root: JsonObject): boolean {
  const schema = resolveReference(property, root);
  if (schema === undefined || Object.hasOwn(schema, "const") || Array.isArray(schema["enum"])) return false;
  const types = typesOf(schema);
  if (types.length > 0) return !types.includes("null");
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(alternatives)) return false;
  return (alternatives as readonly JsonValue[]).every((one) => refusesNull(one, root));
}

/** Adds the given value and a hint to a problem. */
function explain(problem: SchemaProblem, root: JsonObject, params: JsonObject): ArgumentProblem {
  const { path, message } = problem;
  const schema = subschemaAt(root, path);
  const missing = /required property '(.*)'$/s.exec(message)?.[1];
  if (missing !== undefined) return { path, message, hint: missingHint(missing, schema, root) };
  const unknown = /must not have the property '(.*)'$/s.exec(message)?.[1];
  if (unknown !== undefined) return { path, message, hint: unknownHint(unknown, schema) };
  const given = valueAt(params, path);
  return { path, message: `${message}, got ${describe(given)}`, ...typeHint(message, schema) };
}

function missingHint(name: string, schema: JsonObject | undefined, root: JsonObject): string {
  const properties = isJsonObject(schema?.["properties"]) ? schema["properties"] : {};
  const property = Object.hasOwn(properties, name) ? resolveReference(properties[name], root) : undefined;
  const types = typesOf(property);
  const description = property?.["description"];
  const what = [
    types.length > 0 ? types.join(" or ") : "a value",
    ...(typeof description === "string" ? [description.slice(0, 200)] : []),
  ];
  return `add "${name}": ${what.join(", ")}`;
}

function unknownHint(name: string, schema: JsonObject | undefined): string {
  const properties = isJsonObject(schema?.["properties"]) ? Object.keys(schema["properties"]) : [];
  const near = nearestName(name, properties);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (properties.length === 0) return `leave "${name}" out: there are no properties here`;
  return `leave it out; there are ${properties
    .slice(0, 20)
    .map((known) => `"${known}"`)
    .join(", ")}`;
}

function typeHint(message: string, schema: JsonObject | undefined): { hint?: string } {
  if (!/^must be (?:string|integer|number|boolean|array|object|null)/.test(message)) return {};
  const fallback = schema?.["default"];
  if (fallback === undefined) return {};
  return { hint: `omit it to use the default ${JSON.stringify(fallback).slice(0, 100)}` };
}

function valueAt(params: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = params;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isJsonObject(value)) return `an object with ${Object.keys(value).length} members`;
  if (typeof value !== "string") return String(value);
  const shown = value.length > 60 ? `${value.slice(0, 60).toWellFormed()}…` : value;
  return `the string ${JSON.stringify(shown)}`;
}
