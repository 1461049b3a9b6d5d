/**
 * The methods of sets. Where another collection is asked for, any iterable will
 * do. Errors carry the method's name; what grows is charged before it does.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { hashKey, type Key } from "../value/hash-key.ts";
import { setMemberWeight } from "../value/heap-weight.ts";
import { isIterable, iterate } from "../value/iterate.ts";
import { newSet, setAdd, setDelete } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import type { StarlarkSet, Value } from "../value/value.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { takeFirst } from "./first-entry.ts";
import { prefixError } from "./prefix-error.ts";

/** Call `visit` for each element of `iterable` with its key, until it returns false. */
function forEachKey(iterable: Value, thread: Thread, visit: (key: Key, element: Value) => boolean): void {
  const iterator = iterate(iterable);
  try {
    for (let element = iterator.next(); element !== undefined; element = iterator.next()) {
      thread.step(1);
      if (!visit(hashKey(element, thread), element)) return;
    }
  } finally {
    iterator.close();
  }
}

/** A set of the same members. */
function copyOf(set: StarlarkSet, thread: Thread): StarlarkSet {
  const copy = newSet(thread);
  thread.charge(setMemberWeight * set.size);
  thread.step(set.size >> 1);
  for (const [key, member] of set.members) copy.members.set(key, member);
  return copy;
}

/** A method that is given other collections, by position alone; its errors named. */
function combining(
  signature: `${string}(*others)`,
  doc: string,
  combine: (self: StarlarkSet, others: readonly Value[], thread: Thread) => Value,
): Builtin {
  const name = signature.slice(0, signature.indexOf("("));
  return builtin(signature, doc, (thread, self, args, named) => {
    if (named.length > 0) throw new StarlarkError(`${name}: does not accept keyword arguments`);
    for (const [index, other] of args.entries()) {
      if (isIterable(other)) continue;
      throw new StarlarkError(`${name}: argument #${index + 1} is not iterable: ${typeOf(other)}`);
    }
    try {
      return combine(self as StarlarkSet, args, thread);
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** A method that is given one collection. */
function comparing(
  name: string,
  doc: string,
  compare: (self: StarlarkSet, other: Value, thread: Thread) => Value,
): Builtin {
  return builtin(`${name}(other, /)`, doc, (thread, self, other) => {
    if (!isIterable(other!))
      throw new StarlarkError(`${name}: for parameter 1: got ${typeOf(other!)}, want iterable`);
    try {
      return compare(self as StarlarkSet, other!, thread);
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** A method of one element, which changes the set. */
function changing(
  signature: string,
  doc: string,
  change: (self: StarlarkSet, element: Value, thread: Thread) => Value,
): Builtin {
  const name = signature.slice(0, signature.indexOf("("));
  return builtin(signature, doc, (thread, self, element) => {
    try {
      return change(self as StarlarkSet, element!, thread);
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** Add all members of the other collections to `set`. */
function addAll(set: StarlarkSet, others: readonly Value[], thread: Thread): void {
  for (const other of others) {
    // Of itself a set has every member, and it could not change while it is gone over.
    if (other === set) continue;
    const iterator = iterate(other);
    try {
      for (let element = iterator.next(); element !== undefined; element = iterator.next()) {
        thread.step(1);
        setAdd(set, element, thread);
      }
    } finally {
      iterator.close();
    }
  }
}

function difference(self: StarlarkSet, others: readonly Value[], thread: Thread): StarlarkSet {
  const rest = copyOf(self, thread);
  for (const other of others) {
    forEachKey(other, thread, (key) => {
      rest.members.delete(key);
      return true;
    });
  }
  return rest;
}

/** In the order of the last collection, as go.starlark.net has it for one. */
function intersection(self: StarlarkSet, others: readonly Value[], thread: Thread): StarlarkSet {
  if (others.length === 0) return copyOf(self, thread);
  let common = self;
  for (const other of others) {
    const next = newSet(thread);
    forEachKey(other, thread, (key, element) => {
      if (common.members.has(key) && !next.members.has(key)) {
        thread.charge(setMemberWeight);
        next.members.set(key, element);
      }
      return true;
    });
    common = next;
  }
  return common;
}

function symmetricDifference(self: StarlarkSet, other: Value, thread: Thread): StarlarkSet {
  const result = copyOf(self, thread);
  forEachKey(other, thread, (key, element) => {
    if (result.members.delete(key)) return true;
    thread.charge(setMemberWeight);
    result.members.set(key, element);
    return true;
  });
  return result;
}

function isSubset(self: StarlarkSet, other: Value, thread: Thread): boolean {
  const met = new Set<Key>();
  forEachKey(other, thread, (key) => {
    if (self.members.has(key) && !met.has(key)) {
      thread.charge(setMemberWeight);
      met.add(key);
    }
    return met.size < self.size;
  });
  return met.size === self.size;
}

function isSuperset(self: StarlarkSet, other: Value, thread: Thread): boolean {
  let all = true;
  forEachKey(other, thread, (key) => {
    all = self.members.has(key);
    return all;
  });
  return all;
}

/** The methods of every set. */
export const setMethods: readonly Builtin[] = [
  changing(
    "add(x, /)",
    "Makes `x` a member of the set. `set([1]).add(2)` gives `None`",
    (self, element, thread) => {
      setAdd(self, element, thread);
      return null;
    },
  ),
  changing("clear()", "Removes all members of the set. `set([1]).clear()` gives `None`", (self) => {
    if (self.size > 0) self.checkMutable("clear");
    self.members.clear();
    return null;
  }),
  combining(
    "difference(*others)",
    "A new set of the members that none of the others have. `set([1, 2, 3]).difference([2])` gives `set([1, 3])`",
    difference,
  ),
  changing(
    "discard(x, /)",
    "Removes `x` from the set, if it is a member. `set([1]).discard(2)` gives `None`",
    (self, element, thread) => {
      setDelete(self, element, thread);
      return null;
    },
  ),
  combining(
    "intersection(*others)",
    "A new set of the members that all the others have too. `set([1, 2, 3]).intersection([3, 2])` gives `set([3, 2])`",
    intersection,
  ),
  comparing(
    "issubset",
    "Whether `other` has every member of the set. `set([1]).issubset([1, 2])` gives `True`",
    isSubset,
  ),
  comparing(
    "issuperset",
    "Whether the set has every element of `other`. `set([1, 2]).issuperset([1])` gives `True`",
    isSuperset,
  ),
  changing(
    "pop()",
    "Removes the member that came first and returns it; an error if the set is empty. `set([3, 1]).pop()` gives `3`",
    (self) => {
      if (self.size === 0) throw new StarlarkError("empty set");
      self.checkMutable("delete from");
      return takeFirst(self.members)!;
    },
  ),
  changing(
    "remove(x, /)",
    "Removes `x` from the set; an error if it is no member. `set([1]).remove(1)` gives `None`",
    (self, element, thread) => {
      if (!setDelete(self, element, thread)) throw new StarlarkError("missing key");
      return null;
    },
  ),
  comparing(
    "symmetric_difference",
    "A new set of what is in the set or in `other`, and not in both. `set([1, 2]).symmetric_difference([2, 3])` gives `set([1, 3])`",
    symmetricDifference,
  ),
  combining(
    "union(*others)",
    "A new set of the members of the set and of the others. `set([1]).union([2], [3])` gives `set([1, 2, 3])`",
    (self, others, thread) => {
      const united = copyOf(self, thread);
      addAll(united, others, thread);
      return united;
    },
  ),
  combining(
    "update(*others)",
    "Makes the elements of the others members of the set. `set([1]).update([2], [3])` gives `None`",
    (self, others, thread) => {
      addAll(self, others, thread);
      return null;
    },
  ),
];
