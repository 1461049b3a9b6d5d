/**
 * The methods of lists. Errors start with the name of the method. Growth is charged
 * in advance.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { equals } from "../value/equality.ts";
import { elementWeight } from "../value/heap-weight.ts";
import { toItems } from "../value/iterate.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { wantIterable, wantSafeInt } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { prefixError } from "./prefix-error.ts";

/** The error for a list that cannot change. */
function refuse(list: StarlarkList, method: string, verb: string): unknown {
  try {
    list.checkMutable(verb);
  } catch (error) {
    return prefixError(method, error);
  }
  return new StarlarkError(`${method}: cannot ${verb} list`);
}

/** @throws {StarlarkError} with the name of the method, if the list is frozen or iterated over. */
function checkMutable(list: StarlarkList, method: string, verb: string): void {
  if (list.frozen !== 0 || list.locks !== 0) throw refuse(list, method, verb);
}

function append(thread: Thread, self: StarlarkList, x: Value): null {
  if (self.frozen !== 0 || self.locks !== 0) throw refuse(self, "append", "append to");
  thread.chargeElement(self.items.length);
  self.items.push(x);
  return null;
}

function clear(_thread: Thread, self: StarlarkList): null {
  checkMutable(self, "clear", "clear");
  self.items = [];
  return null;
}

function extend(thread: Thread, self: StarlarkList, iterable: Value): null {
  wantIterable("extend", 1, iterable);
  checkMutable(self, "extend", "extend");
  const plain = iterable instanceof StarlarkList || iterable instanceof StarlarkTuple;
  const added = plain ? iterable.items : toItems(iterable, thread);
  thread.charge(elementWeight * added.length);
  thread.step(added.length >> 3);
  self.extend(added);
  return null;
}

function index(
  thread: Thread,
  self: StarlarkList,
  value: Value,
  start: Value | undefined,
  end: Value | undefined,
): number {
  const { items } = self;
  const first = bound(start, "start", 0, items.length);
  const last = bound(end, "end", items.length, items.length);
  for (let at = first; at < last; at += 1) {
    thread.step(1);
    if (isEqual(items[at]!, value, thread, "index")) return at;
  }
  throw new StarlarkError("index: value not in list");
}

/** A bound of a slice: counted from the end if it is negative, and limited to the list. */
function bound(given: Value | undefined, what: string, absent: number, length: number): number {
  if (given === undefined || given === null) return absent;
  if (typeof given === "bigint") return given < 0n ? 0 : length;
  if (typeof given !== "number") {
    throw new StarlarkError(`index: invalid ${what} index: got ${typeOf(given)}, want int`);
  }
  return Math.min(Math.max(given < 0 ? given + length : given, 0), length);
}

function isEqual(a: Value, b: Value, thread: Thread, method: string): boolean {
  if (typeof a === "number" && typeof b === "number") return a === b;
  try {
    return equals(a, b, thread);
  } catch (error) {
    throw prefixError(method, error);
  }
}

function insert(thread: Thread, self: StarlarkList, at: Value, x: Value): null {
  const { items } = self;
  const given = wantSafeInt("insert", 1, at);
  checkMutable(self, "insert", "insert into");
  const position = Math.max(given < 0 ? given + items.length : given, 0);
  thread.chargeElement(items.length);
  if (position >= items.length) {
    items.push(x);
  } else {
    thread.step((items.length - position) >> 6);
    items.splice(position, 0, x);
  }
  return null;
}

function pop(thread: Thread, self: StarlarkList, at: Value | undefined): Value {
  const { items } = self;
  const { length } = items;
  let position = length - 1;
  if (at !== undefined) {
    const given = wantSafeInt("pop", 1, at);
    position = given < 0 ? given + length : given;
    if (position < 0 || position >= length) throw noElement(given, length);
  } else if (length === 0) {
    throw noElement(-1, 0);
  }
  if (self.frozen !== 0 || self.locks !== 0) throw refuse(self, "pop", "pop from");
  if (position === length - 1) return items.pop()!;
  thread.step((length - position) >> 6);
  return items.splice(position, 1)[0]!;
}

function noElement(position: number, length: number): StarlarkError {
  if (length === 0) return new StarlarkError(`pop: index ${position} out of range: empty list`);
  return new StarlarkError(`pop: list index ${position} out of range [${-length}:${length - 1}]`);
}

function remove(thread: Thread, self: StarlarkList, value: Value): null {
  checkMutable(self, "remove", "remove from");
  const { items } = self;
  for (let at = 0; at < items.length; at += 1) {
    thread.step(1);
    if (isEqual(items[at]!, value, thread, "remove")) {
      items.splice(at, 1);
      return null;
    }
  }
  throw new StarlarkError("remove: element not found");
}

/** The methods of lists. */
export const listMethods: readonly Builtin[] = [
  builtin("append(x, /)", "Appends `x` to the list. `[1].append(2)` gives `None`", append),
  builtin("clear()", "Removes all elements of the list. `[1, 2].clear()` gives `None`", clear),
  builtin(
    "extend(iterable, /)",
    "Appends the elements of an iterable to the list. `[1].extend([2, 3])` gives `None`",
    extend,
  ),
  builtin(
    "index(x, start?, end?, /)",
    'The index of the first element that equals `x`, within `start` and `end` if they are present; an error if there is none. `["a", "b", "a"].index("a", 1)` gives `2`',
    index,
  ),
  builtin(
    "insert(i, x, /)",
    "Inserts `x` before the element at index `i`, or at the end if there is none. `[1, 3].insert(1, 2)` gives `None`",
    insert,
  ),
  builtin(
    "pop(i?, /)",
    "Removes the element at index `i`, the last one by default, and returns it. `[1, 2, 3].pop()` gives `3`",
    pop,
  ),
  builtin(
    "remove(x, /)",
    "Removes the first element that equals `x`; an error if there is none. `[1, 2].remove(1)` gives `None`",
    remove,
  ),
];
