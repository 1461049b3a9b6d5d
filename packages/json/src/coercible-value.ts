/**
 * Decides whether a value would fit a schema after the conversions that servers
 * commonly make themselves (Pydantic's lax mode, `z.coerce`, FastMCP): a number in
 * a text, a text for a number, a boolean in a text, JSON in a text for an object or
 * array. The value itself is never changed; the server gets it as it was sent.
 */

import type { JsonObject, JsonValue } from "./json-value.ts";
import { parseJson } from "./parse-json.ts";
import type { SchemaProblem, SchemaValidator } from "./schema-validator.ts";

/** Validations of one value; each but the last is followed by the conversion of all parts that it refused. */
const validationsMaxCount = 4;

/** Longest text that is read as JSON, in UTF-16 units. */
const jsonMaxLength = 262_144;

/** Whether `value`, which does not fit `schema`, fits it after conversions of the types of its parts. */
export function isCoercible(validator: SchemaValidator, schema: JsonObject, value: JsonObject): boolean {
  const converted = structuredClone(value);
  for (let count = 0; count < validationsMaxCount; count += 1) {
    const verdict = validator.validate(schema, converted);
    if (verdict.kind !== "invalid") return verdict.kind === "valid";
    const done = verdict.problems.filter((problem) => convertAt(converted, problem));
    if (done.length === 0) return false;
  }
  return false;
}

/** Converts the part of `root` that `problem` is about; returns whether it could. */
function convertAt(root: JsonObject, { path, types = [] }: SchemaProblem): boolean {
  const steps = path.split("/").slice(1).map(unescapeStep);
  const last = steps.pop();
  if (last === undefined) return false;
  let parent: unknown = root;
  for (const step of steps) parent = childOf(parent, step);
  const part = childOf(parent, last);
  for (const type of types) {
    const converted = convert(part, type);
    if (converted === undefined) continue;
    // A property that a schema names cannot be one of the prototype: the value has it.
    (parent as { [key: string]: unknown })[last] = converted;
    return true;
  }
  return false;
}

function childOf(parent: unknown, step: string): unknown {
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, step)) return undefined;
  return (parent as { readonly [key: string]: unknown })[step];
}

/** Reverses the escapes of a JSON Pointer. */
function unescapeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Returns `part` as `type`; undefined where no server could read it as that. */
function convert(part: unknown, type: string): JsonValue | undefined {
  if (type === "string")
    return typeof part === "number" || typeof part === "boolean" ? String(part) : undefined;
  if (typeof part !== "string") return undefined;
  const text = part.trim();
  if (type === "boolean") return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
  if (type === "number" || type === "integer") {
    const number = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(number) ? number : undefined;
  }
  if (type !== "object" && type !== "array") return undefined;
  if (text.length > jsonMaxLength || !text.startsWith(type === "object" ? "{" : "[")) return undefined;
  try {
    return parseJson(text);
  } catch {
    // Not JSON: the problem stays.
    return undefined;
  }
}
