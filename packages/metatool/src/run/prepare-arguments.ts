/**
 * Arguments as a composite gets them (document 003, Parameter Validation):
 * defaults of the schema applied, types coerced, and what is left checked.
 *
 * A value is coerced only where its schema refuses its type, and only in these
 * ways, none of which loses anything:
 *
 *     "5", "5.5", "1e3"    number, and integer where it is one
 *     "true", "false"      boolean
 *     5, 5.5               string
 *     "[1]", '{"a": 1}'    array, object: a JSON text of that type
 *     null                 absent, for a property that may be left out
 *
 * Where a schema allows several types and more than one of these would do, the
 * value stays as it is. Pure; the arguments given are not changed.
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

/** One thing that is wrong with the arguments. */
export interface ArgumentProblem {
  /** JSON Pointer into the arguments; empty for the arguments themselves. */
  readonly path: string;
  /** What is wrong and what is allowed, such as `must be integer, got the string "many"`. */
  readonly message: string;
  /** How to mend it, where that can be told. */
  readonly hint?: string;
}

/** Arguments that can be used, or all that is wrong with them. */
export type PreparedArguments =
  | { readonly kind: "valid"; readonly params: JsonObject }
  | { readonly kind: "invalid"; readonly problems: readonly ArgumentProblem[] };

/** Most values that are looked at, and levels that are gone down; what is beyond stays as it is and is checked only. */
const maxVisits = 100_000;
const maxDepth = 64;

/** Apply the defaults of `inputSchema`, coerce what it refuses, and check the rest. */
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
        problems: [{ path: "", message, hint: "save the tool again with a schema that is one" }],
      };
    }
  }
}

interface Walk {
  readonly root: JsonObject;
  visitsLeft: number;
}

/** `value` as `schema` would have it; the same value where nothing is to be done. */
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
  // A key of any name is a member here, `__proto__` too.
  return isChanged ? (Object.fromEntries(members) as JsonObject) : value;
}

/** The default of a property: its own comes before that of what it refers to. */
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

/** Within alternatives, the one whose type the value has is followed; of several the value could be either. */
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

/** Say of a problem what was given and what to do. */
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
  return { hint: `leave it out, and it is ${JSON.stringify(fallback).slice(0, 100)}` };
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
