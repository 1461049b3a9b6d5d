/** Values and places in messages about results: short, and as JSON. Pure. */

import type { JsonValue } from "@toolcrib/json";

/** Longest value in a message, in UTF-16 units. */
const shownMaxLength = 200;

/** A value as JSON, cut where it is long. */
export function showValue(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= shownMaxLength ? text : `${text.slice(0, shownMaxLength - 1)}…`;
}

/** The path of a member or item of the value at `path`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
