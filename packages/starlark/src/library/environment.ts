/**
 * The predefined names and methods of a dialect.
 */

import type { Dialect } from "../dialect.ts";
import type { MethodTables } from "../value/attributes.ts";
import type { Value } from "../value/value.ts";
import type { Builtin } from "./builtin.ts";
import { bytesMethods } from "./bytes-methods.ts";
import { dictMethods } from "./dict-methods.ts";
import { listMethods } from "./list-methods.ts";
import { parallelBuiltins } from "./parallel.ts";
import { setMethods } from "./set-methods.ts";
import { stringMethods, toolStringMethods } from "./string-methods.ts";
import { toolUniverse, universe } from "./universe.ts";

function byName(...lists: readonly (readonly Builtin[])[]): ReadonlyMap<string, Builtin> {
  return new Map(lists.flat().map((method) => [method.name, method]));
}

const coreMethods: MethodTables = {
  string: byName(stringMethods),
  bytes: byName(bytesMethods),
  list: byName(listMethods),
  dict: byName(dictMethods),
  set: byName(setMethods),
};

const toolMethods: MethodTables = { ...coreMethods, string: byName(stringMethods, toolStringMethods) };

/** The methods of the built-in types. */
export function methodsFor(dialect: Dialect): MethodTables {
  return dialect.toolBuiltins === true ? toolMethods : coreMethods;
}

const withoutSet: ReadonlyMap<string, Value> = new Map([...universe].filter(([name]) => name !== "set"));

/** The names that every program has. `set` requires the option of the dialect. */
export function universeFor(dialect: Dialect): ReadonlyMap<string, Value> {
  const core = dialect.set === true ? universe : withoutSet;
  if (dialect.toolBuiltins !== true) return core;
  return new Map([...core, ...toolUniverse, ...byName(parallelBuiltins)]);
}
