/**
 * Generates the JSON Schema of the configuration, for editors, from the same
 * shapes that check it.
 */

import type { JsonObject } from "@toolcrib/json";
import { documentShape } from "./document-shape.ts";

/**
 * Returns the JSON Schema (draft 2020-12) of the configuration. The descriptions
 * mention the rules that a schema cannot express (colliding ids, literal secrets).
 */
export function configJsonSchema(): JsonObject {
  const definitions = new Map<string, JsonObject>();
  const schema = documentShape.toJsonSchema(definitions);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Toolcrib configuration",
    ...schema,
    $defs: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
