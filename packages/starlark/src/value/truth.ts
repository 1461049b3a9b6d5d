/**
 * Truth values.
 */

import type { Value } from "./value.ts";

/** The result of `bool(value)`: false for `None`, `False`, zero and empty values. */
export function truth(value: Value): boolean {
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      return value !== 0;
    case "string":
      return value !== "";
    case "bigint":
      return true;
    default:
      return value?.truth() ?? false;
  }
}
