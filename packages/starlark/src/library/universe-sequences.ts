/**
 * The builtins for iterables: `all`, `any`, `enumerate`, `len`, `list`, `max`, `min`,
 * `range`, `reversed`, `set`, `sorted`, `sum`, `tuple`, `zip`. Results are charged
 * before they are made, and elements are counted as steps when they are read.
 */

import { Continuation, type ContinuationBody } from "../run/deferred.ts";
import { inPiecesIfLong, longLength, type Pieces, pieceLength } from "../run/long-work.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { listWeight, tupleWeight } from "../value/heap-weight.ts";
import { isIterable, iterate, lengthOf, toItems } from "../value/iterate.ts";
import { isInt } from "../value/number.ts";
import { binary } from "../value/operators.ts";
import { isOrdered } from "../value/order.ts";
import { repr } from "../value/repr.ts";
import { newSet, setAdd } from "../value/table.ts";
import { truth } from "../value/truth.ts";
import { typeOf } from "../value/type-of.ts";
import {
  type Deferred,
  type NamedArgument,
  StarlarkList,
  StarlarkRange,
  type StarlarkSet,
  StarlarkTuple,
  type Value,
  type ValueIterator,
} from "../value/value.ts";
import { takeNamed, wantBool, wantCallable, wantIterable, wantSafeInt } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { prefixError } from "./prefix-error.ts";
import { sortByKeys } from "./universe-sort.ts";

/** Whether the truth value of an element is `wanted`; stops at the first one. */
function hasElement(name: string, iterable: Value, wanted: boolean, thread: Thread): boolean {
  const iterator = iterate(wantIterable(name, 1, iterable));
  try {
    for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
      thread.step(1);
      if (truth(item) === wanted) return true;
    }
    return false;
  } finally {
    iterator.close();
  }
}

function enumerate(thread: Thread, _self: Value, iterable: Value, start: Value | undefined): StarlarkList {
  const first = start === undefined ? 0 : wantSafeInt("enumerate", 2, start);
  const length = lengthOf(wantIterable("enumerate", 1, iterable)) ?? 0;
  return inPiecesIfLong(thread, length, [iterable], () => enumerated(iterable, first, thread));
}

function* enumerated(iterable: Value, first: number, thread: Thread): Pieces<StarlarkList> {
  const items = toItems(iterable, thread);
  if (!Number.isSafeInteger(first + items.length)) {
    throw new StarlarkError(`enumerate: for parameter 2: ${first} out of range`);
  }
  thread.charge(items.length * tupleWeight(2));
  for (let index = 0; index < items.length; index += 1) {
    items[index] = new StarlarkTuple([first + index, items[index]!]);
    if ((index & (pieceLength - 1)) !== pieceLength - 1) continue;
    thread.step(2 * pieceLength);
    yield;
  }
  thread.step(2 * (items.length & (pieceLength - 1)));
  return new StarlarkList(items);
}

function len(_thread: Thread, _self: Value, x: Value): number {
  const length = lengthOf(x);
  if (length === undefined) throw new StarlarkError(`len: value of type ${typeOf(x)} has no len`);
  return length;
}

function list(thread: Thread, _self: Value, iterable: Value | undefined): StarlarkList {
  if (iterable !== undefined) return new StarlarkList(toItems(wantIterable("list", 1, iterable), thread));
  thread.charge(listWeight(0));
  return new StarlarkList([]);
}

function tuple(thread: Thread, _self: Value, iterable: Value | undefined): StarlarkTuple {
  if (iterable instanceof StarlarkTuple) return iterable;
  if (iterable !== undefined) return new StarlarkTuple(toItems(wantIterable("tuple", 1, iterable), thread));
  thread.charge(tupleWeight(0));
  return new StarlarkTuple([]);
}

/** Maximum distance of range bounds from 0, so that every difference of two bounds is exact. */
const maxRangeBound = 2 ** 52;

function rangeBound(parameter: number, value: Value, thread: Thread): number {
  if (!isInt(value))
    throw new StarlarkError(`range: for parameter ${parameter}: got ${typeOf(value)}, want int`);
  if (typeof value === "number" && Math.abs(value) < maxRangeBound) return value;
  throw new StarlarkError(
    `range: for parameter ${parameter}: ${repr(value, thread)} out of range (want value in signed 53-bit range)`,
  );
}

function range(
  thread: Thread,
  _self: Value,
  first: Value,
  second: Value | undefined,
  third: Value | undefined,
): StarlarkRange {
  const lead = rangeBound(1, first, thread);
  const start = second === undefined ? 0 : lead;
  const stop = second === undefined ? lead : rangeBound(2, second, thread);
  const step = third === undefined ? 1 : rangeBound(3, third, thread);
  if (step === 0) throw new StarlarkError("range: step argument must not be zero");
  thread.charge(64);
  return new StarlarkRange(start, stop, step);
}

function set(thread: Thread, _self: Value, iterable: Value | undefined): StarlarkSet {
  if (iterable === undefined) return newSet(thread);
  wantIterable("set", 1, iterable);
  try {
    return inPiecesIfLong(thread, lengthOf(iterable) ?? 0, [iterable], () => setOf(iterable, thread));
  } catch (error) {
    throw prefixError("set", error);
  }
}

function* setOf(iterable: Value, thread: Thread): Pieces<StarlarkSet> {
  const made = newSet(thread);
  const iterator = iterate(iterable);
  let count = 0;
  try {
    for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
      thread.step(2);
      setAdd(made, item, thread);
      count += 1;
      if ((count & (pieceLength - 1)) === 0) yield;
    }
    return made;
  } finally {
    iterator.close();
  }
}

function zip(
  thread: Thread,
  _self: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): StarlarkList {
  if (named.length > 0) throw new StarlarkError("zip: does not accept keyword arguments");
  for (const [index, arg] of args.entries()) {
    if (isIterable(arg)) continue;
    throw new StarlarkError(`zip: argument #${index + 1} is not iterable: ${typeOf(arg)}`);
  }
  const length = Math.min(...args.map((arg) => lengthOf(arg) ?? longLength));
  return inPiecesIfLong(thread, args.length === 0 ? 0 : length, args, () => zipped(args, thread));
}

function* zipped(args: readonly Value[], thread: Thread): Pieces<StarlarkList> {
  const iterators: ValueIterator[] = [];
  try {
    for (const arg of args) iterators.push(iterate(arg));
    thread.charge(listWeight(0));
    const rows: Value[] = [];
    if (iterators.length === 0) return new StarlarkList(rows);
    const row: Value[] = [];
    while (readRow(iterators, row)) {
      thread.chargeElement(rows.length);
      thread.charge(tupleWeight(row.length));
      thread.step(2 + row.length);
      if ((rows.length & (pieceLength - 1)) === 0) yield;
      // A copy has no spare capacity, unlike an array that grew.
      rows.push(new StarlarkTuple(row.slice()));
    }
    return new StarlarkList(rows);
  } finally {
    for (const iterator of iterators) iterator.close();
  }
}

/** Stores the next element of each iterator in `row`. Returns whether all had one. */
function readRow(iterators: readonly ValueIterator[], row: Value[]): boolean {
  for (let column = 0; column < iterators.length; column += 1) {
    const item = iterators[column]!.next();
    if (item === undefined) return false;
    row[column] = item;
  }
  return true;
}

function extremum(name: "max" | "min", doc: string): Builtin {
  const operator = name === "max" ? ">" : "<";
  /** Whether `key` is better than the best one so far. */
  const beats = (key: Value, best: Value, thread: Thread): boolean => {
    thread.step(1);
    if (typeof key === "number" && typeof best === "number")
      return operator === ">" ? key > best : key < best;
    try {
      return isOrdered(operator, key, best, thread);
    } catch (error) {
      throw prefixError(name, error);
    }
  };
  const select = (iterable: Value, thread: Thread): Value => {
    const iterator = iterate(iterable);
    try {
      let best = iterator.next();
      if (best === undefined) throw emptySequence(name);
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        if (beats(item, best, thread)) best = item;
      }
      return best;
    } finally {
      iterator.close();
    }
  };
  function* selectByKey(iterable: Value, key: Value, kept: Value[], thread: Thread): ContinuationBody {
    const iterator = iterate(iterable);
    try {
      let best = iterator.next();
      if (best === undefined) throw emptySequence(name);
      // Visible to the heap walk: the best item, its key, and the current item.
      kept.push(best, null, null);
      let bestKey = yield { callee: key, args: [best] };
      kept[1] = bestKey;
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        kept[2] = item;
        const itemKey = yield { callee: key, args: [item] };
        if (!beats(itemKey, bestKey, thread)) continue;
        best = kept[0] = item;
        bestKey = kept[1] = itemKey;
      }
      return best;
    } finally {
      iterator.close();
    }
  }
  return builtin(
    `${name}(*args, key?)`,
    doc,
    (thread, _self, args, named): Value | Deferred => {
      if (args.length === 0) throw new StarlarkError(`${name} requires at least one positional argument`);
      const [key] = takeNamed(name, named, ["key"]);
      const iterable = args.length === 1 ? args[0]! : new StarlarkTuple(args);
      if (!isIterable(iterable))
        throw new StarlarkError(`${name}: ${typeOf(iterable)} value is not iterable`);
      if (key === undefined) return select(iterable, thread);
      wantCallable(name, "key", key);
      const kept = new StarlarkList([]);
      return new Continuation(selectByKey(iterable, key, kept.items, thread), [iterable, key, kept]);
    },
    { defers: true },
  );
}

function emptySequence(name: string): StarlarkError {
  return new StarlarkError(`${name}: argument is an empty sequence`);
}

function sorted(
  thread: Thread,
  _self: Value,
  iterable: Value,
  key: Value | undefined,
  reverse: Value | undefined,
): Value | Deferred {
  wantIterable("sorted", "iterable", iterable);
  if (key !== undefined) wantCallable("sorted", "key", key);
  const descending = reverse !== undefined && wantBool("sorted", "reverse", reverse);
  const result = new StarlarkList(toItems(iterable, thread));
  if (key === undefined) {
    sortNamed(result, result.items, descending, thread);
    return result;
  }
  thread.charge(listWeight(result.items.length));
  const keys = new StarlarkList([]);
  return new Continuation(sortByKeyFunction(result, key, keys, descending, thread), [result, key, keys]);
}

function* sortByKeyFunction(
  result: StarlarkList,
  key: Value,
  keys: StarlarkList,
  descending: boolean,
  thread: Thread,
): ContinuationBody {
  for (const item of result.items) keys.items.push(yield { callee: key, args: [item] });
  sortNamed(result, keys.items, descending, thread);
  return result;
}

function sortNamed(result: StarlarkList, keys: readonly Value[], descending: boolean, thread: Thread): void {
  try {
    sortByKeys(result.items, keys, descending, thread);
  } catch (error) {
    throw prefixError("sorted", error);
  }
}

function sum(thread: Thread, _self: Value, iterable: Value, start: Value | undefined): Value {
  const iterator = iterate(wantIterable("sum", 1, iterable));
  try {
    let total: Value = start ?? 0;
    for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
      thread.step(1);
      total = addTo(total, item, thread);
    }
    return total;
  } finally {
    iterator.close();
  }
}

function addTo(total: Value, item: Value, thread: Thread): Value {
  if (typeof total === "number" && typeof item === "number" && Number.isSafeInteger(total + item)) {
    return total + item;
  }
  if (typeof total === "string" || typeof item === "string") {
    throw new StarlarkError(`sum: cannot add ${typeOf(item)} to ${typeOf(total)}`, {
      hint: 'join strings with join: "".join(texts)',
    });
  }
  try {
    return binary("+", total, item, thread);
  } catch (error) {
    throw prefixError("sum", error);
  }
}

export const sequenceBuiltins: readonly Builtin[] = [
  builtin(
    "all(iterable, /)",
    "Whether every element is true; `True` if there are no elements. `all([1, 0])` gives `False`",
    (thread, _self, iterable) => !hasElement("all", iterable!, false, thread),
  ),
  builtin(
    "any(iterable, /)",
    "Whether at least one element is true. `any([1, 0])` gives `True`",
    (thread, _self, iterable) => hasElement("any", iterable!, true, thread),
  ),
  builtin(
    "enumerate(iterable, start?, /)",
    'A list of pairs of index and element, counted from `start`, 0 by default. `enumerate(["a", "b"], 1)` gives `[(1, "a"), (2, "b")]`',
    enumerate,
  ),
  builtin(
    "len(x, /)",
    'The number of elements of a string, bytes or a collection. `len({"a": 1})` gives `1`',
    len,
  ),
  builtin(
    "list(iterable?, /)",
    "A new list of the elements of an iterable; an empty list without an argument. `list(range(3))` gives `[0, 1, 2]`",
    list,
  ),
  extremum(
    "max",
    'The largest of the arguments, or of the elements of a single argument; the first one on a tie. With a function `key`, the elements are compared by its results. `max(["a", "bbb", "cc"], key=len)` gives `"bbb"`',
  ),
  extremum(
    "min",
    "The smallest of the arguments, or of the elements of a single argument; the first one on a tie. With a function `key`, the elements are compared by its results. `min(5, 3, 8)` gives `3`",
  ),
  builtin(
    "range(start, stop?, step?, /)",
    "The ints from `start` up to but not including `stop`, in increments of `step`, 1 by default. With one argument, the range starts at 0. A range of any length takes constant memory. `list(range(2, 10, 3))` gives `[2, 5, 8]`",
    range,
  ),
  builtin(
    "reversed(iterable, /)",
    "A new list of the elements in reverse order. `reversed([1, 2, 3])` gives `[3, 2, 1]`",
    (thread, _self, iterable) =>
      new StarlarkList(toItems(wantIterable("reversed", 1, iterable!), thread).reverse()),
  ),
  builtin(
    "set(iterable?, /)",
    "A new set of the elements of an iterable, in their order. `set([3, 1, 3])` gives `set([3, 1])`",
    set,
  ),
  builtin(
    "sorted(iterable, key?, reverse?)",
    'A new list of the elements in ascending order, or in descending order with `reverse=True`. Equal elements keep their order. With a function `key`, the elements are ordered by its results. `sorted(["bb", "a"], key=len)` gives `["a", "bb"]`',
    sorted,
    { defers: true },
  ),
  builtin(
    "tuple(iterable?, /)",
    "A tuple of the elements of an iterable; the empty tuple without an argument. `tuple([1, 2])` gives `(1, 2)`",
    tuple,
  ),
  builtin(
    "zip(*iterables)",
    'A list of tuples of the first elements, the second elements, and so on, up to the length of the shortest iterable. `zip([1, 2], ["a", "b"])` gives `[(1, "a"), (2, "b")]`',
    zip,
  ),
];

/** `sum`, which is not in the core language. */
export const sumBuiltin: Builtin = builtin(
  "sum(iterable, start?, /)",
  "The sum of the elements and of `start`, 0 by default. `sum([1, 2, 3])` gives `6`",
  sum,
);
