/**
 * Tool definitions for clients of revisions before 2026-07-28, which refuse a
 * list with an output schema whose root is no object, or with `true` and
 * `false` as schemas of members. Pure.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";

/**
 * Returns `definition` as older clients accept it: without an output schema
 * that they cannot use, and with objects in place of boolean schemas. Most
 * definitions are returned as they are.
 */
function toLegacyDefinition(definition: JsonObject): JsonObject {
  const { inputSchema, outputSchema } = definition;
  const input = withObjectMembers(inputSchema);
  const output =
    isJsonObject(outputSchema) && outputSchema["type"] === "object"
      ? withObjectMembers(outputSchema)
      : undefined;
  if (input === inputSchema && output === outputSchema) return definition;
  const { outputSchema: _dropped, ...rest } = definition;
  return {
    ...rest,
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(output === undefined ? {} : { outputSchema: output }),
  };
}

/** Keeps the older form of each definition, so that an unchanged one keeps its identity in lists. */
export function keepLegacyDefinitions(): { readonly of: (definition: JsonObject) => JsonObject } {
  const kept = new WeakMap<JsonObject, JsonObject>();
  return {
    of(definition) {
      const known = kept.get(definition);
      if (known !== undefined) return known;
      const legacy = toLegacyDefinition(definition);
      kept.set(definition, legacy);
      return legacy;
    },
  };
}

/** `schema` with `{}` and `{ not: {} }` in place of members that are `true` and `false`. */
function withObjectMembers(schema: JsonObject[string]): JsonObject[string] {
  if (!isJsonObject(schema)) return schema;
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const members = Object.entries(properties);
  if (members.every(([, member]) => typeof member !== "boolean")) return schema;
  const replaced = members.map(([name, member]) => [
    name,
    typeof member === "boolean" ? (member ? {} : { not: {} }) : member,
  ]);
  return { ...schema, properties: Object.fromEntries(replaced) };
}
