/** Which values count as true. */

import type { Value } from "./value.ts";

/** What `bool(value)` gives: false for `None`, `False`, zero and what is empty. */
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
