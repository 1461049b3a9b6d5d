/** The type of a value, by its name in the language. */

import type { Value } from "./value.ts";

/** What `type(value)` gives: `NoneType`, `bool`, `int`, `float`, `string`, `list`, …. */
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
