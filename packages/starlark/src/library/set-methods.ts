/**
 * The methods of sets. Their collection arguments can be any iterable. Errors start
 * with the name of the method. Growth is charged in advance.
 */

import { inPiecesIfLong, longLength, type Pieces, pieceLength } from "../run/long-work.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { hashKey, type Key } from "../value/hash-key.ts";
import { setMemberWeight } from "../value/heap-weight.ts";
import { isIterable, iterate, lengthOf } from "../value/iterate.ts";
import { newSet, setAdd, setDelete } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import type { StarlarkSet, Value } from "../value/value.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { takeFirst } from "./first-entry.ts";
import { prefixError } from "./prefix-error.ts";

/** Calls `visit` for each element of `iterable` with its key, until it returns false. */
function* forEachKey(
  iterable: Value,
  thread: Thread,
  visit: (key: Key, element: Value) => boolean,
): Pieces<void> {
  const iterator = iterate(iterable);
  let count = 0;
  try {
    for (let element = iterator.next(); element !== undefined; element = iterator.next()) {
      thread.step(2);
      if (!visit(hashKey(element, thread), element)) return;
      count += 1;
      if ((count & (pieceLength - 1)) === 0) yield;
    }
  } finally {
    iterator.close();
  }
}

/** Copies a set. */
function* copyOf(set: StarlarkSet, thread: Thread): Pieces<StarlarkSet> {
  const copy = newSet(thread);
  thread.charge(setMemberWeight * set.size);
  thread.step(set.size);
  let count = 0;
  for (const [key, member] of set.members) {
    copy.members.set(key, member);
    count += 1;
    if ((count & (pieceLength - 1)) === 0) yield;
  }
  return copy;
}

/** The number of elements to read: an upper bound of the work of a method. */
function totalLength(self: StarlarkSet, others: readonly Value[]): number {
  return others.reduce<number>((sum, other) => sum + (lengthOf(other) ?? longLength), self.size);
}

/** A method with any number of positional collections; adds the name to errors. */
function combining(
  signature: `${string}(*others)`,
  doc: string,
  combine: (self: StarlarkSet, others: readonly Value[], thread: Thread) => Pieces<Value>,
): Builtin {
  const name = signature.slice(0, signature.indexOf("("));
  return builtin(signature, doc, (thread, self, args, named) => {
    if (named.length > 0) throw new StarlarkError(`${name}: does not accept keyword arguments`);
    for (const [index, other] of args.entries()) {
      if (isIterable(other)) continue;
      throw new StarlarkError(`${name}: argument #${index + 1} is not iterable: ${typeOf(other)}`);
    }
    try {
      const set = self as StarlarkSet;
      return inPiecesIfLong(thread, totalLength(set, args), [set, ...args], () => combine(set, args, thread));
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** A method with one collection. */
function comparing(
  name: string,
  doc: string,
  compare: (self: StarlarkSet, other: Value, thread: Thread) => Pieces<Value>,
): Builtin {
  return builtin(`${name}(other, /)`, doc, (thread, self, other) => {
    if (!isIterable(other!))
      throw new StarlarkError(`${name}: for parameter 1: got ${typeOf(other!)}, want iterable`);
    try {
      const set = self as StarlarkSet;
      return inPiecesIfLong(thread, totalLength(set, [other!]), [set, other!], () =>
        compare(set, other!, thread),
      );
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** A method with one element, which changes the set. */
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

/** Adds all members of the other collections to `set`. */
function* addAll(set: StarlarkSet, others: readonly Value[], thread: Thread): Pieces<void> {
  let count = 0;
  for (const other of others) {
    // The set already has its own members, and cannot change while it is iterated over.
    if (other === set) continue;
    const iterator = iterate(other);
    try {
      for (let element = iterator.next(); element !== undefined; element = iterator.next()) {
        thread.step(2);
        setAdd(set, element, thread);
        count += 1;
        if ((count & (pieceLength - 1)) === 0) yield;
      }
    } finally {
      iterator.close();
    }
  }
}

function* difference(self: StarlarkSet, others: readonly Value[], thread: Thread): Pieces<StarlarkSet> {
  const rest = yield* copyOf(self, thread);
  for (const other of others) {
    yield* forEachKey(other, thread, (key) => {
      rest.members.delete(key);
      return true;
    });
  }
  return rest;
}

/** In the order of the last collection, as in go.starlark.net for a single one. */
function* intersection(self: StarlarkSet, others: readonly Value[], thread: Thread): Pieces<StarlarkSet> {
  if (others.length === 0) return yield* copyOf(self, thread);
  let common = self;
  for (const other of others) {
    const next = newSet(thread);
    yield* forEachKey(other, thread, (key, element) => {
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

function* symmetricDifference(self: StarlarkSet, other: Value, thread: Thread): Pieces<StarlarkSet> {
  const result = yield* copyOf(self, thread);
  yield* forEachKey(other, thread, (key, element) => {
    if (result.members.delete(key)) return true;
    thread.charge(setMemberWeight);
    result.members.set(key, element);
    return true;
  });
  return result;
}

function* isSubset(self: StarlarkSet, other: Value, thread: Thread): Pieces<boolean> {
  const met = new Set<Key>();
  yield* forEachKey(other, thread, (key) => {
    if (self.members.has(key) && !met.has(key)) {
      thread.charge(setMemberWeight);
      met.add(key);
    }
    return met.size < self.size;
  });
  return met.size === self.size;
}

function* isSuperset(self: StarlarkSet, other: Value, thread: Thread): Pieces<boolean> {
  let all = true;
  yield* forEachKey(other, thread, (key) => {
    all = self.members.has(key);
    return all;
  });
  return all;
}

/** The methods of sets. */
export const setMethods: readonly Builtin[] = [
  changing("add(x, /)", "Adds `x` to the set. `set([1]).add(2)` gives `None`", (self, element, thread) => {
    setAdd(self, element, thread);
    return null;
  }),
  changing("clear()", "Removes all members of the set. `set([1]).clear()` gives `None`", (self) => {
    if (self.size > 0) self.checkMutable("clear");
    self.members.clear();
    return null;
  }),
  combining(
    "difference(*others)",
    "A new set of the members that are in none of the others. `set([1, 2, 3]).difference([2])` gives `set([1, 3])`",
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
    "A new set of the members that are in all of the others. `set([1, 2, 3]).intersection([3, 2])` gives `set([3, 2])`",
    intersection,
  ),
  comparing(
    "issubset",
    "Whether every member of the set is in `other`. `set([1]).issubset([1, 2])` gives `True`",
    isSubset,
  ),
  comparing(
    "issuperset",
    "Whether every element of `other` is in the set. `set([1, 2]).issuperset([1])` gives `True`",
    isSuperset,
  ),
  changing(
    "pop()",
    "Removes the oldest member and returns it; an error if the set is empty. `set([3, 1]).pop()` gives `3`",
    (self) => {
      if (self.size === 0) throw new StarlarkError("empty set");
      self.checkMutable("delete from");
      return takeFirst(self.members)!;
    },
  ),
  changing(
    "remove(x, /)",
    "Removes `x` from the set; an error if it is not a member. `set([1]).remove(1)` gives `None`",
    (self, element, thread) => {
      if (!setDelete(self, element, thread)) throw new StarlarkError("missing key");
      return null;
    },
  ),
  comparing(
    "symmetric_difference",
    "A new set of the elements that are either in the set or in `other`, but not in both. `set([1, 2]).symmetric_difference([2, 3])` gives `set([1, 3])`",
    symmetricDifference,
  ),
  combining(
    "union(*others)",
    "A new set of the members of the set and of the others. `set([1]).union([2], [3])` gives `set([1, 2, 3])`",
    function* (self, others, thread) {
      const united = yield* copyOf(self, thread);
      yield* addAll(united, others, thread);
      return united;
    },
  ),
  combining(
    "update(*others)",
    "Adds the elements of the others to the set. `set([1]).update([2], [3])` gives `None`",
    function* (self, others, thread) {
      yield* addAll(self, others, thread);
      return null;
    },
  ),
];
