/**
 * Going through JSON Schemas by their structure: local references, and the part
 * that is about a place in a value. Schemas may be anything; what is not there
 * is `undefined`. Pure and bounded.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** References that are followed one after the other. */
const maxReferences = 16;

/** `schema` with its `$ref` followed, where that points into `root`; `undefined` for `true`, `false` and what is none. */
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

/** What a JSON Pointer leads to. */
function pointTo(root: JsonObject, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = root;
  for (const step of stepsOf(pointer)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as JsonObject)[step];
  }
  return at;
}

/** The steps of a JSON Pointer (RFC 6901). */
function stepsOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The schema of the place in a value that `pointer` leads to, as far as `properties` and `items` say. */
export function subschemaAt(root: JsonObject, pointer: string): JsonObject | undefined {
  let schema = resolveReference(root, root);
  for (const step of stepsOf(pointer)) {
    if (schema === undefined) return undefined;
    schema = resolveReference(propertySchema(schema, step) ?? itemSchema(schema, step), root);
  }
  return schema;
}

/** The schema of the property `name`, as `properties` has it. */
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
