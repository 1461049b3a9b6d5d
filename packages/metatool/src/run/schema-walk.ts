/**
 * Navigates JSON Schemas: local references, and the schema of a place in a value.
 * Schemas may have any form; missing parts are `undefined`. Pure and bounded.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** Longest chain of references. */
const maxReferences = 16;

/** Follows the `$ref` of `schema` within `root`; `undefined` for values that are not schema objects. */
export function resolveReference(schema: JsonValue | undefined, root: JsonObject): JsonObject | undefined {
  let resolved = schema;
  for (let count = 0; count <= maxReferences; count += 1) {
    if (!isJsonObject(resolved)) return undefined;
    const reference = resolved["$ref"];
    if (typeof reference !== "string") return resolved;
    if (reference !== "#" && !reference.startsWith("#/")) return resolved;
    resolved = pointTo(root, reference.slice(1));
  }
  return undefined;
}

/** Returns the value at a JSON Pointer. */
function pointTo(root: JsonObject, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = root;
  for (const step of stepsOf(pointer)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as JsonObject)[step];
  }
  return at;
}

/** Parses a JSON Pointer (RFC 6901). */
function stepsOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the schema of the place `pointer` in a value, by `properties` and `items`. */
export function subschemaAt(root: JsonObject, pointer: string): JsonObject | undefined {
  let schema = resolveReference(root, root);
  for (const step of stepsOf(pointer)) {
    if (schema === undefined) return undefined;
    schema = resolveReference(propertySchema(schema, step) ?? itemSchema(schema, step), root);
  }
  return schema;
}

/** Returns the schema of the property `name`. */
export function propertySchema(schema: JsonObject, name: string): JsonValue | undefined {
  const properties = schema["properties"];
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function itemSchema(schema: JsonObject, step: string): JsonValue | undefined {
  if (!/^[0-9]+$/.test(step)) return undefined;
  const first = schema["prefixItems"];
  const own = Array.isArray(first) ? (first as readonly JsonValue[])[Number(step)] : undefined;
  return own ?? schema["items"];
}
