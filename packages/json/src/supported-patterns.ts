/**
 * Removes the patterns of a schema that RE2 does not support, so that the rest
 * of the schema can still be checked. Only for schemas in which a missing
 * pattern accepts more values and never fewer. Pure.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
import { compileLinearRegExp } from "./linear-regexp.ts";
import { StepBudget } from "./step-budget.ts";

/** Keywords whose value is a schema. */
const ofSchema = new Set(["additionalProperties", "additionalItems", "contains", "items", "propertyNames"]);
/** Keywords whose value is a list of schemas; `items` is one in older dialects. */
const ofSchemas = new Set(["allOf", "anyOf", "items", "prefixItems"]);
/** Keywords whose value has schemas by name. */
const ofSchemasByName = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);
/** Keywords with which a schema that accepts more can make the whole accept less. */
const inverting = new Set(["not", "oneOf", "if", "maxContains", "unevaluatedItems", "unevaluatedProperties"]);

/** Returns `schema` without unsupported patterns; undefined if there are none, or if removing one could refuse values. */
export function withoutUnsupportedPatterns(schema: JsonObject): JsonObject | undefined {
  const stripped = new Stripping();
  const rest = stripped.schema(schema, 0);
  return stripped.isUsable && stripped.count > 0 ? (rest as JsonObject) : undefined;
}

/** Deepest schema that is looked into. */
const maxDepth = 200;

class Stripping {
  count = 0;
  isUsable = true;

  schema(value: JsonValue, depth: number): JsonValue {
    if (depth > maxDepth) this.isUsable = false;
    if (!isJsonObject(value) || !this.isUsable) return value;
    const members = membersOf(value).flatMap(([key, part]): Member[] => {
      if (inverting.has(key)) this.isUsable = false;
      if (key === "pattern" && typeof part === "string" && !isSupported(part)) {
        this.count += 1;
        return [];
      }
      return [[key, this.#part(key, part, depth + 1)]];
    });
    return Object.fromEntries(members);
  }

  #part(key: string, part: JsonValue, depth: number): JsonValue {
    if (ofSchemas.has(key) && Array.isArray(part)) return part.map((one) => this.schema(one, depth));
    if (ofSchema.has(key)) return this.schema(part, depth);
    if (!ofSchemasByName.has(key) || !isJsonObject(part)) return part;
    return Object.fromEntries(membersOf(part).map(([name, one]) => [name, this.schema(one, depth)]));
  }
}

type Member = readonly [name: string, value: JsonValue];

function membersOf(value: JsonObject): readonly Member[] {
  return Object.entries(value) as [string, JsonValue][];
}

function isSupported(pattern: string): boolean {
  try {
    compileLinearRegExp(pattern, "u", new StepBudget());
    return true;
  } catch (error) {
    // RE2 could not be loaded, and has refused nothing.
    if (isCodedError(error)) throw error;
    return false;
  }
}
