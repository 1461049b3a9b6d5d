/**
 * A JSON Schema as a Schema Object of Gemini: the subset of OpenAPI 3.0 that `FunctionDeclaration.parameters`
 * has. References are inserted, unions become `anyOf` or `nullable`, and what has no counterpart is left
 * out, which accepts more values and never fewer. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** Levels of a schema; deeper ones, and recursive references, become objects without properties. */
const depthMax = 16;
/** Schemas that one schema becomes at most. */
const partsMaxCount = 1000;

/** Members that are the same. */
const copied = [
  "title",
  "description",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "pattern",
];
/** Formats by type. */
const formats: { readonly [type: string]: readonly string[] } = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
/** Keywords that have a counterpart, or none that a model needs to know. */
const known = new Set([
  ...copied,
  "$comment",
  "$defs",
  "$id",
  "$ref",
  "$schema",
  "allOf",
  "anyOf",
  "const",
  "default",
  "definitions",
  "enum",
  "examples",
  "format",
  "items",
  "oneOf",
  "properties",
  "required",
  "type",
]);

/** A schema for Gemini, and the keywords that are left out. */
export interface GeminiSchema {
  readonly schema: JsonObject;
  readonly leftOut: readonly string[];
}

/** Converts the input schema of a tool. */
export function toGeminiSchema(schema: JsonObject): GeminiSchema {
  const conversion = new Conversion(schema);
  const converted = conversion.convert(schema, 0, []);
  return { schema: converted, leftOut: [...conversion.leftOut].toSorted() };
}

class Conversion {
  readonly leftOut = new Set<string>();
  readonly #root: JsonObject;
  #parts = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  convert(source: JsonValue | undefined, depth: number, references: readonly string[]): JsonObject {
    this.#parts += 1;
    if (!isJsonObject(source)) return { type: "STRING" };
    const { $ref: reference } = source;
    if (depth > depthMax || this.#parts > partsMaxCount) {
      this.leftOut.add("deeper levels");
      return { type: "OBJECT" };
    }
    if (typeof reference === "string") return this.#insert(source, reference, depth, references);
    const schema = this.#merge(source);
    for (const key of Object.keys(schema)) if (!known.has(key)) this.leftOut.add(key);
    const types = typesOf(schema);
    const isNullable = types.includes("null");
    const others = types.filter((type) => type !== "null");
    const union = unionOf(schema);
    if (union !== undefined) return this.#union(schema, union, depth, references);
    if (others.length > 1) {
      return {
        ...this.#common(schema),
        anyOf: others.map((type) => this.convert({ ...schema, type }, depth + 1, references)),
        ...(isNullable ? { nullable: true } : {}),
      };
    }
    const [type = "string"] = others;
    return { ...this.#typed(schema, type, depth, references), ...(isNullable ? { nullable: true } : {}) };
  }

  #insert(source: JsonObject, reference: string, depth: number, references: readonly string[]): JsonObject {
    const { $ref: _reference, ...rest } = source;
    const target = this.#resolve(reference);
    if (target === undefined || references.includes(reference)) {
      this.leftOut.add(target === undefined ? "$ref" : "recursive $ref");
      return { type: "OBJECT", ...this.#common(rest) };
    }
    return this.convert({ ...target, ...rest }, depth, [...references, reference]);
  }

  #resolve(reference: string): JsonObject | undefined {
    if (!reference.startsWith("#")) return undefined;
    let found: JsonValue | undefined = this.#root;
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return isJsonObject(found) ? found : undefined;
  }

  /** Joins the parts of `allOf`. */
  #merge(source: JsonObject): JsonObject {
    const { allOf, ...own } = source;
    if (!Array.isArray(allOf)) return source;
    let whole = own;
    for (const one of allOf as readonly JsonValue[]) {
      const reference = isJsonObject(one) && typeof one["$ref"] === "string" ? one["$ref"] : undefined;
      const part = reference === undefined ? one : this.#resolve(reference);
      if (isJsonObject(part)) whole = joined(whole, part);
    }
    return whole;
  }

  #union(
    schema: JsonObject,
    union: readonly JsonValue[],
    depth: number,
    references: readonly string[],
  ): JsonObject {
    const isNull = (one: JsonValue) => isJsonObject(one) && one["type"] === "null";
    const others = union.filter((one) => !isNull(one));
    const nullable = others.length < union.length ? { nullable: true } : {};
    const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
    const [only] = others;
    if (others.length === 1 && isJsonObject(only)) {
      return { ...this.convert({ ...only, ...rest }, depth + 1, references), ...nullable };
    }
    // Members next to a union belong to each of its parts.
    const shared = { properties: rest["properties"], required: rest["required"], type: rest["type"] };
    const parts = others.map((one) =>
      this.convert(
        isJsonObject(one) ? this.#merge({ ...defined(shared), allOf: [one] }) : one,
        depth + 1,
        references,
      ),
    );
    return { ...this.#common(rest), anyOf: parts, ...nullable };
  }

  #common({ title, description }: JsonObject): JsonObject {
    return defined({ title, description });
  }

  #typed(schema: JsonObject, type: string, depth: number, references: readonly string[]): JsonObject {
    const same = defined(Object.fromEntries(copied.map((key) => [key, schema[key]])));
    const { format, default: initial } = schema;
    const base: JsonObject = {
      type: type.toUpperCase(),
      ...same,
      ...(typeof format === "string" && formats[type]?.includes(format) === true ? { format } : {}),
      ...(initial === undefined ? {} : { default: initial }),
    };
    if (typeof format === "string" && base["format"] === undefined) this.leftOut.add("format");
    switch (type) {
      case "object":
        return { ...base, ...this.#object(schema, depth, references) };
      case "array":
        // Items are required.
        return { ...base, items: this.convert(schema["items"] ?? { type: "string" }, depth + 1, references) };
      default:
        return { ...base, ...this.#values(schema, type) };
    }
  }

  #object({ properties, required }: JsonObject, depth: number, references: readonly string[]): JsonObject {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    if (!isJsonObject(properties) || names.length === 0) return {};
    const needed = asTexts(required).filter((name) => names.includes(name));
    return {
      properties: Object.fromEntries(
        names.map((name) => [name, this.convert(properties[name], depth + 1, references)]),
      ),
      ...(needed.length === 0 ? {} : { required: needed }),
      propertyOrdering: names,
    };
  }

  /** Only texts can be enumerated; other values become a part of the description. */
  #values({ enum: listed, const: only, description }: JsonObject, type: string): JsonObject {
    const values = only === undefined ? listed : [only];
    if (!Array.isArray(values)) return {};
    const texts = values.filter((value) => typeof value === "string");
    if (type === "string" && texts.length > 0) return { enum: texts, format: "enum" };
    const list = `One of: ${values
      .slice(0, 50)
      .map((value) => JSON.stringify(value))
      .join(", ")}`;
    return { description: typeof description === "string" ? `${description} ${list}` : list };
  }
}

function typesOf(schema: JsonObject): readonly string[] {
  const { type, properties, items, enum: values, const: only } = schema;
  const named = asTexts([type ?? []].flat() as readonly JsonValue[]);
  if (named.length > 0) return named;
  if (properties !== undefined) return ["object"];
  if (items !== undefined) return ["array"];
  const [value] = only === undefined ? (Array.isArray(values) ? values : []) : [only];
  return typeof value === "number" || typeof value === "boolean" ? [typeof value] : ["string"];
}

function unionOf({ anyOf, oneOf }: JsonObject): readonly JsonValue[] | undefined {
  const union = anyOf ?? oneOf;
  return Array.isArray(union) && union.length > 0 ? (union as readonly JsonValue[]) : undefined;
}

function asTexts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function defined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

/** One object with the members of both; those of `whole` come first. */
function joined(whole: JsonObject, part: JsonObject): JsonObject {
  const { properties: own = {}, required = [] } = whole;
  const { properties: more = {}, required: further = [], ...rest } = part;
  return {
    ...rest,
    ...whole,
    properties: { ...(isJsonObject(more) ? more : {}), ...(isJsonObject(own) ? own : {}) },
    required: [...new Set([...asTexts(required), ...asTexts(further)])],
  };
}
