/**
 * Output schemas that every client can compile. The official client of the first
 * generation compiles the output schemas of all listed tools in one Ajv instance,
 * and one that it cannot compile, or whose id another schema has too, fails the
 * list as a whole. Pure, and bounded by the size that definitions can have.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";

/** Keywords that name a part of a schema, or refer to one by a name, wherever they stand. */
const naming: ReadonlySet<string> = new Set([
  ...["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"],
  ...["formatMaximum", "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum"],
]);

/** The references that are followed the same everywhere: to the whole schema, and to a definition. */
const localReference = /^#(?:\/(?<list>\$defs|definitions)\/(?<name>[^/~%]+))?$/;

/**
 * Returns `schema` in a form that every client can compile, without its `$id`; undefined
 * if it has none.
 */
export function toPortableSchema(schema: JsonObject): JsonObject | undefined {
  const { $id, ...rest } = schema;
  const portable = $id === undefined ? schema : rest;
  return isPortable(portable, portable) && !hasEndlessReference(portable) ? portable : undefined;
}

function isPortable(value: unknown, root: JsonObject): boolean {
  if (Array.isArray(value)) return value.every((item) => isPortable(item, root));
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(
    ([name, member]) => isPortableMember(value, name, member, root) && isPortable(member, root),
  );
}

/** A schema as the value, such as that of a property with the name of a keyword, is no keyword. */
function isPortableMember(schema: JsonObject, name: string, member: unknown, root: JsonObject): boolean {
  if (isJsonObject(member)) return true;
  if (naming.has(name)) return false;
  if (name === "nullable") return member === true && ![schema["type"]].flat().includes("null");
  if (name !== "$ref") return true;
  return typeof member === "string" && targetOf(member, root) !== undefined;
}

/** Returns the schema that a local reference names. */
function targetOf(reference: string, root: JsonObject): JsonObject | undefined {
  const match = localReference.exec(reference);
  if (match === null) return undefined;
  const { list, name } = match.groups ?? {};
  if (list === undefined || name === undefined) return root;
  const definitions = root[list];
  if (!isJsonObject(definitions) || !Object.hasOwn(definitions, name)) return undefined;
  const target = definitions[name];
  return isJsonObject(target) ? target : undefined;
}

/** Whether a definition refers to itself, with nothing but references in between. */
function hasEndlessReference(root: JsonObject): boolean {
  const lists = [root["$defs"], root["definitions"]].filter(isJsonObject);
  return [root, ...lists.flatMap((list) => Object.values(list))].some((start) => {
    const seen = new Set<unknown>();
    let schema: unknown = start;
    while (isJsonObject(schema) && typeof schema["$ref"] === "string") {
      if (seen.has(schema)) return true;
      seen.add(schema);
      schema = targetOf(schema["$ref"], root);
    }
    return false;
  });
}
