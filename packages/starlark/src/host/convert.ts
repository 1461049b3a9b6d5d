/**
 * Conversion between JSON data and values of a program. Every value is charged before
 * it is made, and depth is limited in both directions.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { isShape, type Shape } from "../value/entry-table.ts";
import { dictEntryWeight, floatWeight, listWeight, tableWeight, weighString } from "../value/heap-weight.ts";
import { normalise } from "../value/number.ts";
import { dictSet } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import {
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkSet,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
} from "../value/value.ts";

/** JSON data, as `JSON.parse` returns it; integers beyond 2^53 may be bigints. */
export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Maximum nesting of a converted value. @limit program */
export const maxConversionDepth = 200;

/**
 * Converts JSON data to a value. Numbers that are safe integers become ints, all
 * others floats. Objects become dicts in the order of their keys, whatever their
 * names.
 *
 * @throws {StarlarkError} if the data is nested too deeply or exceeds the memory
 *   limit.
 */
export function toStarlark(data: Json, thread: Thread): Value {
  return convertIn(data, thread, 0, []);
}

/** @param shapes the shape of the last record at each depth: records next to each other often share their shape. */
function convertIn(data: Json, t: Thread, depth: number, shapes: Shape[]): Value {
  switch (typeof data) {
    case "string":
      t.charge(weighString(data));
      return data;
    case "number":
      // -0 is a float, because no int is negative zero.
      if (Number.isSafeInteger(data) && !Object.is(data, -0)) return data;
      t.charge(floatWeight);
      return new StarlarkFloat(data);
    case "bigint":
      return normalise(data);
    case "boolean":
      return data;
    default:
      // Data of a host may have members without a value.
      if (data === null || data === undefined) return null;
      if (depth >= maxConversionDepth) throw tooDeep();
      t.step(1);
      return isArray(data) ? convertArray(data, t, depth, shapes) : convertObject(data, t, depth, shapes);
  }
}

function isArray(data: Json): data is readonly Json[] {
  return Array.isArray(data);
}

function convertArray(data: readonly Json[], t: Thread, depth: number, shapes: Shape[]): StarlarkList {
  t.charge(listWeight(data.length));
  t.step(data.length >> 2);
  return new StarlarkList(data.map((item) => convertIn(item, t, depth + 1, shapes)));
}

function convertObject(
  data: { readonly [key: string]: Json },
  t: Thread,
  depth: number,
  shapes: Shape[],
): StarlarkDict {
  t.charge(tableWeight);
  const keys = Object.keys(data);
  if (isShape(keys)) return convertRecord(data, keys, t, depth, shapes);
  const dict = new StarlarkDict();
  for (const key of keys) {
    t.charge(weighString(key));
    t.step(1);
    dictSet(dict, key, convertIn(data[key]!, t, depth + 1, shapes), t);
  }
  return dict;
}

function convertRecord(
  data: { readonly [key: string]: Json },
  keys: Shape,
  t: Thread,
  depth: number,
  shapes: Shape[],
): StarlarkDict {
  const last = shapes[depth];
  const shared = last?.length === keys.length && keys.every((key, place) => key === last[place]);
  const shape = shared ? last : keys;
  shapes[depth] = shape;
  const values: Value[] = [];
  for (const key of keys) {
    t.charge(weighString(key) + dictEntryWeight);
    t.step(1);
    values.push(convertIn(data[key]!, t, depth + 1, shapes));
  }
  return new StarlarkDict(shape, values);
}

/**
 * Converts a value to JSON data: tuples and sets become arrays, structs become
 * objects. Objects have no prototype, so `__proto__` is a key like any other.
 *
 * @throws {StarlarkError} for a value that JSON cannot represent, with its path.
 */
export function fromStarlark(value: Value, thread: Thread): Json {
  return convertOut(value, thread, [], "");
}

function convertOut(value: Value, t: Thread, path: Value[], place: string): Json {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string") {
      t.charge(24 + value.length);
      return value.toWellFormed();
    }
    return value;
  }
  t.step(1);
  if (value instanceof StarlarkFloat) return finite(value.value, place);
  if (path.length >= maxConversionDepth) throw tooDeep();
  if (path.includes(value)) throw new StarlarkError(`cannot convert ${placeOf(place)}: it contains itself`);
  path.push(value);
  const data = convertContainer(value, t, path, place);
  path.pop();
  return data;
}

function finite(x: number, place: string): number {
  if (Number.isFinite(x)) return x;
  throw new StarlarkError(`cannot convert ${placeOf(place)}: JSON has no ${x}`);
}

function convertContainer(
  value: Exclude<Value, null | boolean | number | bigint | string>,
  t: Thread,
  path: Value[],
  place: string,
): Json {
  if (value instanceof StarlarkList || value instanceof StarlarkTuple) {
    return convertItems(value.items, t, path, place);
  }
  if (value instanceof StarlarkSet) return convertItems([...value.members.values()], t, path, place);
  const data: Record<string, Json> = Object.create(null);
  if (value instanceof StarlarkDict) {
    t.charge(tableWeight + dictEntryWeight * value.size);
    for (const entry of value.entries.values()) {
      if (typeof entry.key !== "string") throw keyType(entry.key, place);
      data[entry.key.toWellFormed()] = convertOut(entry.value, t, path, `${place}.${entry.key}`);
    }
    return data;
  }
  if (value instanceof StarlarkStruct) {
    t.charge(tableWeight + dictEntryWeight * value.fields.size);
    for (const [name, field] of value.fields) data[name] = convertOut(field, t, path, `${place}.${name}`);
    return data;
  }
  throw new StarlarkError(
    `cannot convert ${placeOf(place)}: got ${typeOf(value)}, want a value that JSON can represent`,
    {
      hint: "return None, a bool, a number, a string, a list or a dict with string keys",
    },
  );
}

function convertItems(items: readonly Value[], t: Thread, path: Value[], place: string): Json {
  t.charge(listWeight(items.length));
  return items.map((item, index) => convertOut(item, t, path, `${place}[${index}]`));
}

function keyType(key: Value, place: string): StarlarkError {
  return new StarlarkError(`cannot convert ${placeOf(place)}: a key is ${typeOf(key)}, want string`, {
    hint: "write str(key) where the dict is made",
  });
}

function placeOf(place: string): string {
  return place === "" ? "the value" : `the value at ${place.startsWith(".") ? place.slice(1) : place}`;
}

function tooDeep(): StarlarkError {
  return new StarlarkError(`cannot convert: the value nests more than ${maxConversionDepth} levels`);
}
