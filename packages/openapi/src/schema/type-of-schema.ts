/** Chooses, among the types that a schema allows, the one type of a toolspec parameter. */

import type { ParamType } from "@toolcrib/toolspec";
import type { Scalar } from "../document/node.ts";
import type { Schema, SchemaPart, SchemaType } from "./read-schema.ts";

/** Maximum number of enumeration values of a parameter; a longer list is described instead. */
const valuesMaxCount = 200;

/** A type, and the types of the schema that it does not cover. */
export interface ChosenType {
  readonly type: ParamType;
  /** Types that the schema allows and the parameter does not; usually empty. */
  readonly lost: readonly ParamType[];
  /** The allowed values, all of `type`. */
  readonly values: readonly Scalar[] | undefined;
}

/** Chooses the type of a value that is sent as text (`isText`, where numbers are texts too) or in JSON. */
export function typeOfSchema(schema: Schema, { isText }: { readonly isText: boolean }): ChosenType {
  const types = typesOf(schema, 0);
  const type = choose(types, isText);
  const values = valuesOf(schema, 0);
  const fitting = values?.filter((value) => isOfType(value, type));
  const isWhole =
    values !== undefined &&
    values.length <= valuesMaxCount &&
    fitting?.length === values.length &&
    type !== "boolean";
  return {
    type,
    lost: types.filter((one) => one !== type && !isCovered(one, type, isText)),
    values: isWhole && isSettled(schema, type) ? [...new Set(fitting)] : undefined,
  };
}

function choose(types: readonly ParamType[], isText: boolean): ParamType {
  const [first = "string"] = types;
  if (types.length < 2) return first;
  if (types.every((type) => type === "integer" || type === "number")) return "number";
  const isScalar = types.every((type) => type !== "object" && type !== "array");
  // In a path, a query or a header, a text can express every scalar.
  return isText && isScalar ? "string" : first;
}

function isCovered(type: ParamType, by: ParamType, isText: boolean): boolean {
  if (type === "integer" && by === "number") return true;
  return isText && by === "string" && type !== "object" && type !== "array";
}

/** Alternatives that allow other values than the enumeration. */
function isSettled(schema: Schema, type: ParamType): boolean {
  if (type === "array" || type === "object") return false;
  return schema.enum !== undefined || schema.alternatives.every((one) => isSettled(one, type));
}

/** Returns the types that a schema allows, in its order; inferred when it states none. */
export function typesOf(schema: Schema, depth: number): readonly SchemaType[] {
  if (schema.types.size > 0) return [...schema.types];
  if (schema.properties.size > 0) return ["object"];
  if (schema.items !== undefined) return ["array"];
  if (schema.enum !== undefined) return [...new Set(schema.enum.map(typeOfValue))];
  if (schema.alternatives.length > 0 && depth < 16)
    return [...new Set(schema.alternatives.flatMap((one) => typesOf(one, depth + 1)))];
  return schema.takesMore || schema.required.size > 0 ? ["object"] : [];
}

function typeOfValue(value: Scalar): SchemaType {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}

function isOfType(value: Scalar, type: ParamType): boolean {
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type && value !== "";
}

/** Returns the values of a schema, or of all its alternatives. */
function valuesOf(schema: Schema, depth: number): readonly Scalar[] | undefined {
  if (schema.enum !== undefined) return schema.enum;
  if (schema.alternatives.length === 0 || depth > 16) return undefined;
  const lists = schema.alternatives.map((one) => valuesOf(one, depth + 1));
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
}

/** Returns the fields of an object and of its alternatives, and the fields that all of them require. */
export function fieldsOf(schema: Schema): {
  readonly fields: ReadonlyMap<string, SchemaPart>;
  readonly required: ReadonlySet<string>;
  readonly takesMore: boolean;
} {
  const fields = new Map(schema.properties);
  const required = new Set(schema.required);
  let takesMore = schema.takesMore;
  const inner = schema.alternatives.map(fieldsOf);
  for (const one of inner) {
    takesMore ||= one.takesMore;
    for (const [name, part] of one.fields) {
      const known = fields.get(name);
      if (known === undefined) fields.set(name, part);
      else if (!schema.properties.has(name)) fields.set(name, together(known, part));
    }
  }
  const [first] = inner;
  for (const name of first?.required ?? [])
    if (inner.every((one) => one.required.has(name))) required.add(name);
  return { fields, required, takesMore };
}

/** Maximum number of alternatives in which one field is read. */
const othersMaxCount = 40;

/** Merges one field that two alternatives have. */
function together(known: SchemaPart, part: SchemaPart): SchemaPart {
  const others = [...(known.others ?? []), ...[part, ...(part.others ?? [])]].filter(
    ({ node }, index, all) => node !== known.node && all.findIndex((one) => one.node === node) === index,
  );
  return others.length === 0 ? known : { ...known, others: others.slice(0, othersMaxCount) };
}
