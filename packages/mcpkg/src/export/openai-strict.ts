/**
 * Decides whether a schema can be used with `strict: true` (OpenAI, "Structured Outputs", supported schemas). A schema
 * that is not within these rules would be refused; without `strict` it is a hint. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

const limits = { properties: 5000, depth: 10, textLength: 120_000, enumValues: 1000 } as const;

/** Keywords that strict schemas can have. */
const keywords = new Set([
  "$defs",
  "$ref",
  "additionalProperties",
  "anyOf",
  "const",
  "definitions",
  "description",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "multipleOf",
  "pattern",
  "properties",
  "required",
  "title",
  "type",
]);
const formats = new Set([
  "date",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "time",
  "uuid",
]);

/** Whether `schema` is within the rules of strict mode. */
export function fitsStrictMode(schema: JsonObject): boolean {
  return schema["type"] === "object" && new StrictCheck().schema(schema, 0);
}

class StrictCheck {
  #properties = 0;
  #textLength = 0;
  #enumValues = 0;

  schema(schema: JsonValue | undefined, depth: number): boolean {
    if (!isJsonObject(schema) || depth > limits.depth) return false;
    const { format, enum: values, const: value, type } = schema;
    if (!Object.keys(schema).every((key) => keywords.has(key))) return false;
    if (typeof format === "string" && !formats.has(format)) return false;
    if (Array.isArray(values)) this.#enumValues += values.length;
    for (const text of [...(Array.isArray(values) ? values : []), value]) {
      if (typeof text === "string") this.#textLength += text.length;
    }
    const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
    if ((isObject || schema["properties"] !== undefined) && !this.#object(schema, depth)) return false;
    return this.#parts(schema, depth) && this.#isWithinLimits();
  }

  /** Every property is required, and there are no others. */
  #object({ properties = {}, required = [], additionalProperties }: JsonObject, depth: number): boolean {
    if (!isJsonObject(properties) || !Array.isArray(required) || additionalProperties !== false) return false;
    const names = Object.keys(properties);
    this.#properties += names.length;
    this.#textLength += names.join("").length;
    return names.every((name) => required.includes(name) && this.schema(properties[name], depth + 1));
  }

  #parts({ items, anyOf, $defs, definitions }: JsonObject, depth: number): boolean {
    const named = [$defs, definitions].flatMap((byName) =>
      isJsonObject(byName) ? Object.values(byName) : [],
    );
    this.#textLength += [$defs, definitions]
      .flatMap((byName) => (isJsonObject(byName) ? Object.keys(byName) : []))
      .join("").length;
    const alternatives: readonly JsonValue[] = Array.isArray(anyOf) ? anyOf : [];
    return (
      (items === undefined || this.schema(items, depth + 1)) &&
      [...alternatives, ...named].every((part) => this.schema(part, depth + 1))
    );
  }

  #isWithinLimits(): boolean {
    return (
      this.#properties <= limits.properties &&
      this.#textLength <= limits.textLength &&
      this.#enumValues <= limits.enumValues
    );
  }
}
