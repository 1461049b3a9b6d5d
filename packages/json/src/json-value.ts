/** JSON as TypeScript types. Never copies or changes a value. */

/** A JSON value that is not an array or object. */
export type JsonPrimitive = string | number | boolean | null;
/** Any JSON value. Read only: copy a value to change it. */
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
/** A JSON object. Keys such as `__proto__` are data: read them with `Object.hasOwn`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Whether `value` is an object that JSON would write with braces. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
