/**
 * A tool in one line, as a model can read it: `name(arg: type, opt?: type) -> type`. Required arguments come first,
 * in the order of the schema. It is for choosing a tool and for most calls; the whole schema says more.
 *
 * Its length is bounded whatever the schema contains: depth, members, alternatives and characters. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ToolDefinition } from "@toolcrib/tool";

/** Longest signature in characters. */
const signatureMaxLength = 600;
/** Most arguments, most members of an object, and most alternatives that are written out. */
const maxArguments = 24;
const maxMembers = 8;
const maxAlternatives = 6;
/** Deepest object that is written out. */
const maxDepth = 2;
/** Longest value of an enumeration. */
const valueMaxLength = 40;

/** Returns the signature of a tool. */
export function signatureOf({ name, inputSchema, outputSchema }: ToolDefinition): string {
  const root = inputSchema;
  const args = membersOf(inputSchema, root, 1, maxArguments);
  const result = outputSchema === undefined ? "" : ` -> ${typeOf(outputSchema, outputSchema, 1)}`;
  return cut(`${name}(${args})${result}`);
}

function cut(text: string): string {
  return text.length <= signatureMaxLength ? text : `${text.slice(0, signatureMaxLength - 1)}…`;
}

/** The members of an object schema, required ones first. */
function membersOf(schema: JsonObject, root: JsonObject, depth: number, max: number): string {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return "";
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const names = Object.keys(properties);
  const ordered = [...names.filter(isRequired), ...names.filter((name) => !isRequired(name))];
  const shown = ordered.slice(0, max).map((name) => {
    const mark = isRequired(name) ? "" : "?";
    return `${shownName(name)}${mark}: ${typeOf(properties[name], root, depth)}`;
  });
  if (ordered.length > max) shown.push("…");
  return shown.join(", ");
}

function shownName(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_.$-]*$/.test(name) ? name.slice(0, 64) : JSON.stringify(name.slice(0, 64));
}

function typeOf(written: JsonValue | undefined, root: JsonObject, depth: number): string {
  const schema = dereferenced(written, root);
  if (!isJsonObject(schema)) return "any";
  const { enum: values, const: value, type, anyOf, oneOf, format } = schema;
  if (value !== undefined) return shownValue(value);
  if (Array.isArray(values) && values.length > 0) return oneOfThese(values.map(shownValue));
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (alternatives !== undefined && type === undefined) {
    return depth > maxDepth ? "any" : oneOfThese(alternatives.map((one) => typeOf(one, root, depth + 1)));
  }
  if (Array.isArray(type)) return oneOfThese(type.map((one) => typeNamed(String(one), schema, root, depth)));
  const named = typeNamed(typeof type === "string" ? type : "", schema, root, depth);
  return named === "string" && typeof format === "string" && /^[a-z-]{1,20}$/.test(format) ? format : named;
}

function typeNamed(type: string, schema: JsonObject, root: JsonObject, depth: number): string {
  switch (type) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "array": {
      const item = typeOf(schema["items"], root, depth);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
    case "": {
      if (!isJsonObject(schema["properties"])) return type === "" ? "any" : "object";
      if (depth > maxDepth) return "object";
      const members = membersOf(schema, root, depth + 1, maxMembers);
      return members === "" ? "object" : `{${members}}`;
    }
    default:
      return "any";
  }
}

/** Follows a reference into the same schema, a few steps at most. */
function dereferenced(schema: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  let current = schema;
  for (let step = 0; step < 4 && isJsonObject(current); step += 1) {
    const { $ref: reference } = current;
    if (typeof reference !== "string") return current;
    if (!reference.startsWith("#/") || reference.length > 500) return undefined;
    current = atPointer(root, reference.slice(1));
  }
  return current;
}

/** Returns the part of `root` that a JSON Pointer (RFC 6901) names. */
function atPointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const part of pointer.slice(1).split("/")) {
    const key: string = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const holder: unknown = current;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return undefined;
    current = (holder as { readonly [key: string]: JsonValue })[key];
  }
  return current;
}

function oneOfThese(types: readonly string[]): string {
  const unique = [...new Set(types)];
  const shown = unique.slice(0, maxAlternatives);
  if (unique.length > maxAlternatives) shown.push("…");
  return shown.join(" | ");
}

function shownValue(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= valueMaxLength ? text : `${text.slice(0, valueMaxLength - 1)}…`;
}
