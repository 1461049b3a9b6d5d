/**
 * The methods of dicts. Errors start with the name of the method. Growth is charged
 * in advance.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { listWeight, tupleWeight } from "../value/heap-weight.ts";
import { isIterable, iterate, lengthOf } from "../value/iterate.ts";
import { updateDict } from "../value/operators.ts";
import { quote } from "../value/repr.ts";
import { dictDelete, dictGet, dictSet } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import { type NamedArgument, StarlarkDict, StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { prefixError } from "./prefix-error.ts";

function clear(_thread: Thread, self: StarlarkDict): null {
  try {
    self.checkMutable("clear");
  } catch (error) {
    throw prefixError("clear", error);
  }
  self.entries.clear();
  return null;
}

function get(thread: Thread, self: StarlarkDict, key: Value, fallback: Value | undefined): Value {
  if (typeof key === "string" && key.charCodeAt(0) !== 0) {
    const value = self.entries.get(key);
    return value !== undefined ? value : (fallback ?? null);
  }
  try {
    const value = dictGet(self, key, thread);
    // A value may be None, which is null here.
    return value === undefined ? (fallback ?? null) : value;
  } catch (error) {
    throw prefixError("get", error);
  }
}

function items(thread: Thread, self: StarlarkDict): StarlarkList {
  thread.charge(listWeight(self.size) + self.size * tupleWeight(2));
  thread.step(self.size >> 1);
  const pairs: Value[] = [];
  for (const { key, value } of self.entries.values()) pairs.push(new StarlarkTuple([key, value]));
  return new StarlarkList(pairs);
}

function keys(thread: Thread, self: StarlarkDict): StarlarkList {
  thread.charge(listWeight(self.size));
  thread.step(self.size >> 2);
  const all: Value[] = [];
  for (const { key } of self.entries.values()) all.push(key);
  return new StarlarkList(all);
}

function values(thread: Thread, self: StarlarkDict): StarlarkList {
  thread.charge(listWeight(self.size));
  thread.step(self.size >> 2);
  const all: Value[] = [];
  for (const { value } of self.entries.values()) all.push(value);
  return new StarlarkList(all);
}

function pop(thread: Thread, self: StarlarkDict, key: Value, fallback: Value | undefined): Value {
  let value: Value | undefined;
  try {
    value = dictDelete(self, key, thread);
  } catch (error) {
    throw prefixError("pop", error);
  }
  if (value === undefined) value = fallback;
  if (value === undefined) {
    throw new StarlarkError("pop: missing key", {
      hint: "d.pop(key, default) returns the default if the key does not exist",
    });
  }
  return value;
}

function popitem(thread: Thread, self: StarlarkDict): StarlarkTuple {
  if (self.size === 0) throw new StarlarkError("popitem: empty dict");
  try {
    self.checkMutable("delete from");
  } catch (error) {
    throw prefixError("popitem", error);
  }
  thread.charge(tupleWeight(2));
  const { key, value } = self.entries.takeFirst()!;
  return new StarlarkTuple([key, value]);
}

function setdefault(thread: Thread, self: StarlarkDict, key: Value, fallback: Value | undefined): Value {
  try {
    const present = dictGet(self, key, thread);
    if (present !== undefined) return present;
    const value = fallback ?? null;
    dictSet(self, key, value, thread);
    return value;
  } catch (error) {
    throw prefixError("setdefault", error);
  }
}

function update(
  thread: Thread,
  self: StarlarkDict,
  args: readonly Value[],
  named: readonly NamedArgument[],
): null {
  updateFromArguments("update", self, args, named, thread);
  return null;
}

/**
 * `dict(…)` and `d.update(…)`: adds the entries of a dict or of an iterable of pairs,
 * and then the named arguments.
 */
export function updateFromArguments(
  builtinName: string,
  dict: StarlarkDict,
  args: readonly Value[],
  named: readonly NamedArgument[],
  thread: Thread,
): void {
  if (args.length > 1)
    throw new StarlarkError(`${builtinName}: got ${args.length} arguments, want at most 1`);
  try {
    const [from] = args;
    if (from instanceof StarlarkDict) updateDict(dict, from, thread);
    else if (from !== undefined) updateFromPairs(dict, from, thread);
    const before = dict.size;
    for (const [name, value] of named) dictSet(dict, name, value, thread);
    if (dict.size < before + named.length) refuseRepeated(named);
  } catch (error) {
    throw prefixError(builtinName, error);
  }
}

function refuseRepeated(named: readonly NamedArgument[]): void {
  const met = new Set<string>();
  for (const [name] of named) {
    if (met.has(name)) throw new StarlarkError(`duplicate keyword arg: ${quote(name)}`);
    met.add(name);
  }
}

function updateFromPairs(dict: StarlarkDict, pairs: Value, thread: Thread): void {
  if (!isIterable(pairs)) throw new StarlarkError(`got ${typeOf(pairs)}, want iterable`);
  const iterator = iterate(pairs);
  try {
    let index = 0;
    for (let pair = iterator.next(); pair !== undefined; pair = iterator.next()) {
      thread.step(1);
      addPair(dict, pair, index, thread);
      index += 1;
    }
  } finally {
    iterator.close();
  }
}

function addPair(dict: StarlarkDict, pair: Value, index: number, thread: Thread): void {
  if ((pair instanceof StarlarkTuple || pair instanceof StarlarkList) && pair.items.length === 2) {
    dictSet(dict, pair.items[0]!, pair.items[1]!, thread);
    return;
  }
  const element = `dictionary update sequence element #${index}`;
  if (!isIterable(pair)) throw new StarlarkError(`${element} is not iterable (${typeOf(pair)})`);
  const length = lengthOf(pair);
  if (length === undefined) throw new StarlarkError(`${element} has unknown length (${typeOf(pair)})`);
  if (length !== 2) throw new StarlarkError(`${element} has length ${length}, want 2`);
  const iterator = iterate(pair);
  try {
    const key = iterator.next()!;
    dictSet(dict, key, iterator.next()!, thread);
  } finally {
    iterator.close();
  }
}

/** The methods of dicts. */
export const dictMethods: readonly Builtin[] = [
  builtin("clear()", 'Removes all entries of the dict. `{"a": 1}.clear()` gives `None`', clear),
  builtin(
    "get(key, default?, /)",
    'The value of `key`, or `default` (`None` by default) if the key does not exist. `{"a": 1}.get("b", 0)` gives `0`',
    get,
  ),
  builtin(
    "items()",
    'A new list of the entries as pairs of key and value, in insertion order. `{"a": 1, "b": 2}.items()` gives `[("a", 1), ("b", 2)]`',
    items,
  ),
  builtin(
    "keys()",
    'A new list of the keys, in insertion order. `{"a": 1, "b": 2}.keys()` gives `["a", "b"]`',
    keys,
  ),
  builtin(
    "pop(key, default?, /)",
    'Removes `key` and returns its value. If the key does not exist, the result is `default`, or an error without `default`. `{"a": 1}.pop("a")` gives `1`',
    pop,
  ),
  builtin(
    "popitem()",
    'Removes the oldest entry and returns it as a pair; an error if the dict is empty. `{"a": 1, "b": 2}.popitem()` gives `("a", 1)`',
    popitem,
  ),
  builtin(
    "setdefault(key, default?, /)",
    'The value of `key`. If the key does not exist, it is added with the value `default` (`None` by default). `{"a": 1}.setdefault("b", [])` gives `[]`',
    setdefault,
  ),
  builtin(
    "update(pairs?, /, **kwargs)",
    'Adds or replaces the entries of another dict or of an iterable of pairs, and the named arguments. `{"a": 1}.update({"a": 2}, b=3)` gives `None`',
    update,
  ),
  builtin(
    "values()",
    'A new list of the values, in insertion order. `{"a": 1, "b": 2}.values()` gives `[1, 2]`',
    values,
  ),
];
