/**
 * Decides whether a value that one schema describes is one that another schema allows, as far as that follows from
 * types, properties, items and enumerations. Every other keyword must be the same in both: what is not
 * understood does not fit. Pure; recursion is limited.
 */

import { isJsonObject, isSameJson, type JsonObject, type JsonValue } from "@toolcrib/json";

const depthMax = 16;
/** Keywords that say nothing about a value. */
const annotations: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);
const compared: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "items",
  "additionalProperties",
  "enum",
]);
const allTypes = ["null", "boolean", "integer", "number", "string", "array", "object"];

/**
 * Returns why values of `given` may not be values of `wanted`; undefined where they are.
 *
 * @param place name of the value, for the reason
 */
export function misfit(given: JsonValue, wanted: JsonValue, place: string, depth = 0): string | undefined {
  if (wanted === true || isSameJson(given, wanted)) return undefined;
  if (!isJsonObject(given) || !isJsonObject(wanted) || depth > depthMax) return `${place} cannot be compared`;
  for (const [keyword, value] of Object.entries(wanted)) {
    if (annotations.has(keyword) || compared.has(keyword)) continue;
    if (value !== undefined && !isSameJson(value, given[keyword] ?? null))
      return `${place} has another ${keyword}`;
  }
  return (
    typeMisfit(given, wanted, place) ??
    enumMisfit(given, wanted, place) ??
    propertiesMisfit(given, wanted, place, depth) ??
    itemsMisfit(given, wanted, place, depth)
  );
}

function typeMisfit(given: JsonObject, wanted: JsonObject, place: string): string | undefined {
  const types = typesOf(wanted);
  const other = typesOf(given).find(
    (type) => !(types.includes(type) || (type === "integer" && types.includes("number"))),
  );
  return other === undefined
    ? undefined
    : `${place} can be of the type ${other}, and ${types.join(" or ")} is expected`;
}

function typesOf({ type }: JsonObject): readonly string[] {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  return allTypes;
}

function enumMisfit(given: JsonObject, wanted: JsonObject, place: string): string | undefined {
  const allowed = wanted["enum"];
  if (!Array.isArray(allowed)) return undefined;
  const values = given["enum"];
  const fits =
    Array.isArray(values) &&
    values.every((value) => allowed.some((one) => isSameJson(one as JsonValue, value as JsonValue)));
  return fits ? undefined : `${place} can have another value than the enumerated ones`;
}

function propertiesMisfit(
  given: JsonObject,
  wanted: JsonObject,
  place: string,
  depth: number,
): string | undefined {
  const has = objectOf(given["properties"]);
  const takes = objectOf(wanted["properties"]);
  const always = namesOf(given["required"]);
  const missing = namesOf(wanted["required"]).find((name) => !always.includes(name));
  if (missing !== undefined) return `${place} may lack "${missing}"`;
  const extra = wanted["additionalProperties"];
  for (const [name, schema] of Object.entries(has)) {
    const taken = Object.hasOwn(takes, name) ? takes[name] : extra;
    if (taken === false) return `${place} has "${name}", which is not expected`;
    if (taken === undefined || schema === undefined) continue;
    const reason = misfit(schema, taken, `"${name}"`, depth + 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function itemsMisfit(
  given: JsonObject,
  wanted: JsonObject,
  place: string,
  depth: number,
): string | undefined {
  const { items } = wanted;
  if (items === undefined || !typesOf(given).includes("array")) return undefined;
  return misfit(given["items"] ?? true, items, `an item of ${place}`, depth + 1);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function namesOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
