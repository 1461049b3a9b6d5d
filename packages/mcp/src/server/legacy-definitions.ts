/**
 * Tool definitions for clients of revisions before 2026-07-28, which refuse a
 * list with an output schema whose root is no object or that they cannot compile,
 * or with `true` and `false` as schemas of members. Pure.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { toPortableSchema } from "./portable-schema.ts";

/**
 * Returns `definition` as older clients accept it: without an output schema
 * that they cannot use, and with objects in place of boolean schemas. Most
 * definitions are returned as they are.
 */
function toLegacyDefinition(definition: JsonObject): JsonObject {
  const { inputSchema, outputSchema } = definition;
  const input = withObjectMembers(inputSchema);
  const isObjectSchema = isJsonObject(outputSchema) && outputSchema["type"] === "object";
  const output = withObjectMembers(isObjectSchema ? toPortableSchema(outputSchema) : undefined);
  if (input === inputSchema && output === outputSchema) return definition;
  const { outputSchema: _dropped, ...rest } = definition;
  return {
    ...rest,
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(output === undefined ? {} : { outputSchema: output }),
  };
}

/** The older form of each definition. It is kept, so that an unchanged definition keeps its identity in lists. */
export class LegacyDefinitions {
  readonly #forms = new WeakMap<JsonObject, JsonObject>();

  /** Returns `definition` as older clients accept it. */
  of(definition: JsonObject): JsonObject {
    let form = this.#forms.get(definition);
    if (form === undefined) {
      form = toLegacyDefinition(definition);
      this.#forms.set(definition, form);
    }
    return form;
  }
}

/** `schema` with `{}` and `{ not: {} }` in place of members that are `true` and `false`. */
function withObjectMembers(schema: JsonObject[string] | undefined): JsonObject[string] | undefined {
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
