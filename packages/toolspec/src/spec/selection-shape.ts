/**
 * The shape of the returned part of a response: `select`, a JSONPath, and
 * `fields`, the fields that each object keeps. A field is a JSONPath, or a nested
 * `select` with `fields`, to a limited depth.
 */

import {
  type DocumentNode,
  dictionary,
  either,
  fieldOf,
  quote,
  record,
  reportAt,
  type Shape,
  stringOf,
  text,
} from "@toolcrib/document";
import type { ToolspecFields, ToolspecSelection } from "./toolspec.ts";

const fieldsMaxCount = 100;
/** Maximum number of levels of nested fields. */
const levelsMaxCount = 4;

/** A JSONPath; the caller's parser decides whether it is valid. */
export function jsonPath(description: string): Shape<string> {
  return text({
    description,
    maxLength: 1000,
    pattern: { source: "\\$(?:[.[].*)?", meaning: "a JSONPath that begins with $" },
    examples: ["$.items[*].name"],
  });
}

/** The fields of each object of a selection. */
export const fieldsShape: Shape<ToolspecFields> = fieldsOfLevel(levelsMaxCount);

function fieldsOfLevel(level: number): Shape<ToolspecFields> {
  const map = dictionary<string | ToolspecSelection>(fieldShape(level), {
    description:
      "What is kept of each object, by the name under which it is returned. An object that has none of it is returned whole.",
    maxEntries: fieldsMaxCount,
    key: { source: "[A-Za-z_][A-Za-z0-9_.-]{0,63}", meaning: "letters, digits, _ . and -, 64 at most" },
  });
  return {
    check(node, place) {
      if (node.kind !== "map" || node.entries.length > 0) return map.check(node, place);
      const message = `${quote(place.path)} is empty`;
      const hint = "list the fields to keep, such as { id: $.id }, or remove the field";
      return reportAt(node, place, { code: place.reporter.codes.valueInvalid, message, hint });
    },
    toJsonSchema: (definitions) => ({ ...map.toJsonSchema(definitions), minProperties: 1 }),
  };
}

function fieldShape(level: number): Shape<string | ToolspecSelection> {
  const path = jsonPath(
    "JSONPath from the object. A path of names and indices alone gives its value, any other a list.",
  );
  if (level === 1) return path;
  const selection = record({
    description: "A part of the object, and the fields that each object in it keeps.",
    fields: { select: { required: jsonPath("JSONPath of the part.") }, fields: fieldsOfLevel(level - 1) },
  });
  return either(({ kind }) => kind === "map", selection, path, "A JSONPath, or a selection of its own.");
}

/** A JSONPath and its place in a file. */
export interface PlacedPath {
  readonly node: DocumentNode;
  readonly path: string;
  /** Path of the field, such as `fields.title`. */
  readonly place: string;
}

/** Returns the JSONPaths of the selection at `node`, also when it has other faults. */
export function pathsOfSelection(node: DocumentNode | undefined, place: string): readonly PlacedPath[] {
  const fields = fieldOf(node, "fields");
  const entries = fields?.kind === "map" ? fields.entries : [];
  return [
    ...placedPath(fieldOf(node, "select"), `${place}.select`),
    ...entries.flatMap(({ key, value }) => {
      const at = `${place}.fields.${key}`;
      return value.kind === "map" ? pathsOfSelection(value, at) : placedPath(value, at);
    }),
  ];
}

/** Returns the JSONPath at `node`. */
export function placedPath(node: DocumentNode | undefined, place: string): readonly PlacedPath[] {
  const path = stringOf(node);
  return node === undefined || path === undefined ? [] : [{ node, path, place }];
}
