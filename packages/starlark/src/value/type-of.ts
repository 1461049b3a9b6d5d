/**
 * Types of values, by their names in the language.
 */

import type { Value } from "./value.ts";

/** The result of `type(value)`: `NoneType`, `bool`, `int`, `float`, `string`, `list`, …. */
export function typeOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
    case "bigint":
      return "int";
    case "boolean":
      return "bool";
    default:
      return value === null ? "NoneType" : value.type;
  }
}
