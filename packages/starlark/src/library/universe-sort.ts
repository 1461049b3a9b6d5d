/**
 * Stable sorting in the order of the language. If all keys are ints, or all are
 * strings, the sort of the JavaScript engine is used, and its steps are counted in
 * advance. Otherwise a merge sort is used, which limits can end and which reports
 * incomparable values as errors of the program.
 */

import type { Thread } from "../run/thread.ts";
import { listWeight } from "../value/heap-weight.ts";
import { isOrdered } from "../value/order.ts";
import type { Value } from "../value/value.ts";

/**
 * Sorts `items` by `keys`, in place.
 *
 * @param keys one for each item; `items` itself if they are their own keys.
 * @param reverse whether large keys come first; equal keys keep their order.
 * @throws {StarlarkError} `int < string not implemented`.
 */
export function sortByKeys(items: Value[], keys: readonly Value[], reverse: boolean, thread: Thread): void {
  const { length } = items;
  if (length < 2) return;
  const rounds = Math.ceil(Math.log2(length));
  if (keys.every((key) => typeof key === "number")) {
    thread.step((length * rounds) >> 2);
    thread.charge(8 * 3 * length);
    if (keys === (items as readonly Value[])) sortInts(items as number[], reverse);
    else reorder(items, sortIntKeys(Float64Array.from(keys as readonly number[]), reverse), thread);
  } else if (keys.every((key) => typeof key === "string")) {
    // In each round, an element is compared once and is read at most completely.
    thread.step(rounds * (length + totalLength(keys as readonly string[]) / 32));
    if (keys === (items as readonly Value[])) sortStrings(items as string[], reverse);
    else reorder(items, sortStringKeys(keys as readonly string[], reverse), thread);
  } else {
    mergeSort(items, keys, reverse, thread);
  }
}

function totalLength(texts: readonly string[]): number {
  let total = 0;
  for (const text of texts) total += text.length;
  return Math.floor(total / 32) * 32;
}

/** Equal ints are indistinguishable, so their order does not matter. */
function sortInts(items: number[], reverse: boolean): void {
  const narrow = items.every((item) => (item | 0) === item);
  const sorted = narrow ? new Int32Array(items) : new Float64Array(items);
  sorted.sort();
  if (reverse) sorted.reverse();
  for (let index = 0; index < items.length; index += 1) items[index] = sorted[index]!;
}

/** Strings are ordered by UTF-16 code units, both in JavaScript and in the language. */
function sortStrings(items: string[], reverse: boolean): void {
  items.sort();
  if (reverse) items.reverse();
}

/** The indices of `keys` in the order of the keys; equal keys keep theirs. Merges runs from the bottom up. */
function sortIntKeys(keys: Float64Array, reverse: boolean): Uint32Array {
  const { length } = keys;
  // A descending order is the ascending order with the sign inverted, which keeps equal keys in
  // place.
  if (reverse) for (let index = 0; index < length; index += 1) keys[index] = -keys[index]!;
  let from = Uint32Array.from({ length }, (_, index) => index);
  let to = new Uint32Array(length);
  for (let width = 1; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length);
      const end = Math.min(start + 2 * width, length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at += 1) {
        const takeRight = left >= middle || (right < end && keys[from[right]!]! < keys[from[left]!]!);
        to[at] = takeRight ? from[right]! : from[left]!;
        if (takeRight) right += 1;
        else left += 1;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Like `sortIntKeys`, for strings. */
function sortStringKeys(keys: readonly string[], reverse: boolean): Uint32Array {
  const order = Uint32Array.from(keys.keys());
  return reverse
    ? order.sort((i, j) => (keys[i]! > keys[j]! ? -1 : keys[i]! < keys[j]! ? 1 : i - j))
    : order.sort((i, j) => (keys[i]! < keys[j]! ? -1 : keys[i]! > keys[j]! ? 1 : i - j));
}

function reorder(items: Value[], order: ArrayLike<number>, thread: Thread): void {
  thread.charge(listWeight(items.length));
  const sorted = items.slice();
  for (let index = 0; index < sorted.length; index += 1) items[index] = sorted[order[index]!]!;
}

function mergeSort(items: Value[], keys: readonly Value[], reverse: boolean, thread: Thread): void {
  thread.charge(listWeight(3 * items.length));
  const order = Array.from(items.keys());
  sortRange(order, order.slice(), 0, items.length, (later, earlier) => {
    thread.step(1);
    const [a, b] = [keys[later]!, keys[earlier]!];
    return reverse ? isOrdered("<", b, a, thread) : isOrdered("<", a, b, thread);
  });
  reorder(items, order, thread);
}

/** Whether the later one of two elements must precede the other. */
type Precedes = (later: number, earlier: number) => boolean;

/** Sorts `order` from `start` to `end`; `spare` contains the same elements. */
function sortRange(order: number[], spare: number[], start: number, end: number, precedes: Precedes): void {
  if (end - start < 2) return;
  const middle = (start + end) >> 1;
  sortRange(spare, order, start, middle, precedes);
  sortRange(spare, order, middle, end, precedes);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at += 1) {
    const fromRight = left === middle || (right < end && precedes(spare[right]!, spare[left]!));
    if (fromRight) {
      order[at] = spare[right]!;
      right += 1;
    } else {
      order[at] = spare[left]!;
      left += 1;
    }
  }
}
