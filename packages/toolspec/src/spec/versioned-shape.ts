/** The shape of a file whose `schemaVersion`, 1 or 2, selects the shape of its fields. */

import { type DocumentNode, fieldOf, reportAt, type Shape } from "@toolcrib/document";

/**
 * Returns the shape that selects `shape1` or `shape2` by `schemaVersion`, and `shape1` without it. The fields of an
 * unknown version have no known meaning, so they are not checked.
 *
 * @param names the code of the finding for an unknown version, and the description for the JSON Schema.
 */
export function versionedShape<T>(
  names: { readonly code: string; readonly description: string },
  shape1: Shape<T>,
  shape2: Shape<T>,
): Shape<T> {
  return {
    check(node, place) {
      const version = versionOf(node);
      const isKnown = version === undefined || version === 1 || version === 2;
      if (!isKnown) {
        const found = fieldOf(node, "schemaVersion") ?? node;
        return reportAt(found, place, {
          code: names.code,
          message: `"schemaVersion" must be 1 or 2, but is ${version}`,
          hint: "write schemaVersion: 1",
          path: "schemaVersion",
        });
      }
      return version === 2 ? shape2.check(node, place) : shape1.check(node, place);
    },
    toJsonSchema: () => ({
      description: names.description,
      type: "object",
      required: ["schemaVersion"],
      if: { properties: { schemaVersion: { const: 2 } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: shape2.toJsonSchema(),
      else: shape1.toJsonSchema(),
    }),
  };
}

function versionOf(node: DocumentNode): number | undefined {
  const found = fieldOf(node, "schemaVersion");
  return found?.kind === "scalar" && typeof found.value === "number" ? found.value : undefined;
}
