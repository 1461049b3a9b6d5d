/**
 * Coerces a value to the type of its schema, where that is lossless and unambiguous.
 * Pure.
 */

import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { resolveReference } from "./schema-walk.ts";

/** The types of JSON Schema. */
export type JsonType = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** Returns the type of a value; a whole number is an `integer`. */
export function jsonTypeOf(value: JsonValue): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? "integer" : "number";
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    default:
      return "object";
  }
}

/** Returns the types that a schema names. */
export function typesOf(schema: JsonObject | undefined): readonly string[] {
  const type = schema?.["type"];
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as readonly JsonValue[]).filter((one) => typeof one === "string") : [];
}

/** Returns `value`, coerced when `schema` refuses its type. */
export function coerce(value: JsonValue, schema: JsonObject, root: JsonObject): JsonValue {
  const types = allowedTypes(schema, root);
  if (types.length > 0) {
    const type = jsonTypeOf(value);
    const isAllowed = types.includes(type) || (type === "integer" && types.includes("number"));
    return isAllowed
      ? value
      : onlyOne(
          types.flatMap((wanted) => toType(value, wanted)),
          value,
        );
  }
  // Without a type, the listed values determine it.
  const { enum: listed } = schema;
  if (!Array.isArray(listed) || typeof value !== "string" || listed.includes(value)) return value;
  const meant = (listed as readonly JsonValue[]).filter(
    (one) => typeof one !== "string" && String(one) === value,
  );
  return onlyOne(meant, value);
}

/** Returns the types that a schema accepts, with those of its alternatives; none when an alternative has no type. */
export function allowedTypes(schema: JsonObject, root: JsonObject): readonly string[] {
  const own = typesOf(schema);
  if (own.length > 0) return own;
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(alternatives) || alternatives.length > 32) return [];
  const types = (alternatives as readonly JsonValue[]).map((one) => typesOf(resolveReference(one, root)));
  return types.some((each) => each.length === 0) ? [] : [...new Set(types.flat())];
}

function onlyOne(candidates: readonly JsonValue[], otherwise: JsonValue): JsonValue {
  const [first, ...others] = candidates;
  return first !== undefined && others.every((other) => other === first) ? first : otherwise;
}

/** Converts `value` to the type `wanted`; `undefined` when that is not possible. */
function toType(value: JsonValue, wanted: string): readonly JsonValue[] {
  if (typeof value === "number") return wanted === "string" ? [String(value)] : [];
  if (typeof value !== "string") return [];
  switch (wanted) {
    case "integer": {
      const number = toNumber(value);
      return number !== undefined && Number.isSafeInteger(number) ? [number] : [];
    }
    case "number": {
      const number = toNumber(value);
      return number === undefined ? [] : [number];
    }
    case "boolean":
      return value === "true" ? [true] : value === "false" ? [false] : [];
    case "array":
    case "object":
      return toContainer(value, wanted);
    default:
      return [];
  }
}

const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$/;
/** Decimal digits that a double always preserves. */
const exactDigits = 15;

/** Parses a number, unless digits would be lost. */
function toNumber(text: string): number | undefined {
  if (text.length > 40 || !jsonNumber.test(text)) return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  const digits = text
    .replace(/[eE].*$/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "");
  const isExact = digits.length <= exactDigits || String(number) === text;
  return isExact && !(number === 0 && /[1-9]/.test(digits)) ? number : undefined;
}

function toContainer(text: string, wanted: "array" | "object"): readonly JsonValue[] {
  if (!(wanted === "array" ? /^\s*\[/ : /^\s*\{/).test(text)) return [];
  try {
    const value = parseJson(text);
    return (wanted === "array" ? Array.isArray(value) : isJsonObject(value)) ? [value] : [];
  } catch (error) {
    if (error instanceof JsonError) return [];
    throw error;
  }
}
