/** Attributes and methods: `x.name`. */

import { nearestName } from "@toolcrib/diagnostics";
import { BoundMethod, type Builtin } from "../library/builtin.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { hashKey } from "./hash-key.ts";
import { keyHint } from "./operators.ts";
import { str } from "./repr.ts";
import { typeOf } from "./type-of.ts";
import {
  HostObject,
  StarlarkBytes,
  StarlarkDict,
  StarlarkList,
  StarlarkModule,
  StarlarkSet,
  StarlarkStruct,
  type Value,
} from "./value.ts";

/** The methods of the built-in types, by type and by name. */
export interface MethodTables {
  readonly string: ReadonlyMap<string, Builtin>;
  readonly bytes: ReadonlyMap<string, Builtin>;
  readonly list: ReadonlyMap<string, Builtin>;
  readonly dict: ReadonlyMap<string, Builtin>;
  readonly set: ReadonlyMap<string, Builtin>;
}

/** Maximum number of keys or attributes that are considered as suggestions. */
const maxNames = 200;

const noMethods: ReadonlyMap<string, Builtin> = new Map();

/** The methods of the type of `value`. */
export function methodsOf(value: Value, tables: MethodTables): ReadonlyMap<string, Builtin> {
  if (typeof value === "string") return tables.string;
  if (value instanceof StarlarkDict) return tables.dict;
  if (value instanceof StarlarkList) return tables.list;
  if (value instanceof StarlarkSet) return tables.set;
  return value instanceof StarlarkBytes ? tables.bytes : noMethods;
}

/** The attribute of a host object, struct or module; `undefined` if it is missing, and for other values. */
export function fieldOf(value: Value, name: string, t: Thread): Value | undefined {
  if (value instanceof StarlarkStruct || value instanceof StarlarkModule) return value.attribute(name);
  return value instanceof HostObject ? value.attribute(name, t) : undefined;
}

/**
 * Reads `value.name`.
 *
 * @param dataFirst whether a key of a dict takes precedence over a method: in the
 *   tool dialect, except in calls.
 * @throws {StarlarkError} `list has no .lenght field or method (did you mean
 *   .length?)`.
 */
export function attributeOf(value: Value, name: string, dataFirst: boolean, t: Thread): Value {
  if (dataFirst && value instanceof StarlarkDict) {
    const given = value.entries.get(hashKey(name, t));
    if (given !== undefined) return given;
  }
  const field = fieldOf(value, name, t);
  if (field !== undefined) return field;
  const method = methodsOf(value, t.methods).get(name);
  if (method !== undefined) {
    t.charge(64);
    return new BoundMethod(value, method);
  }
  throw noAttribute(value, name, dataFirst, t);
}

/** The error for a missing attribute, with a suggestion. */
export function noAttribute(value: Value, name: string, dataFirst: boolean, t: Thread): StarlarkError {
  const names = attributeNames(value, t).slice(0, maxNames);
  const keys = dataFirst && value instanceof StarlarkDict ? dictKeys(value) : [];
  const near = nearestName(name, [...keys, ...names]);
  // The comparison of names takes time in proportion to their lengths, up to 100 characters.
  t.step((keys.length + names.length) * (1 + (Math.min(name.length, 100) >> 2)));
  const suggestion = near === undefined ? "" : ` (did you mean .${near}?)`;
  const hint = value instanceof StarlarkDict ? dictHint(value, name, dataFirst, t) : undefined;
  return new StarlarkError(`${kindOf(value, t)} has no .${name} ${noun(value)}${suggestion}`, { hint });
}

/** The type; for a struct with a brand, with that brand. */
function kindOf(value: Value, t: Thread): string {
  if (!(value instanceof StarlarkStruct) || value.constructorValue === "struct") return typeOf(value);
  return `${str(value.constructorValue, t)} struct`;
}

function noun(value: Value): string {
  return value instanceof StarlarkStruct ? "attribute" : "field or method";
}

function dictHint(dict: StarlarkDict, name: string, dataFirst: boolean, t: Thread): string | undefined {
  const keys = keyHint(dict, name, t);
  if (dataFirst)
    return keys === undefined ? undefined : `${keys}; x.get("${name}") gives None where there is none`;
  return dict.entries.has(hashKey(name, t)) ? `it has the key "${name}": write x["${name}"]` : keys;
}

function dictKeys(dict: StarlarkDict): string[] {
  const names: string[] = [];
  for (const { key } of dict.entries.values()) {
    if (typeof key === "string") names.push(key);
    if (names.length === maxNames) break;
  }
  return names;
}

/** All attributes and methods of `value`, sorted: the result of `dir`. */
export function attributeNames(value: Value, t: Thread): readonly string[] {
  if (value instanceof StarlarkStruct || value instanceof StarlarkModule || value instanceof HostObject) {
    return [...value.attributeNames()].sort();
  }
  return [...methodsOf(value, t.methods).keys()].sort();
}
