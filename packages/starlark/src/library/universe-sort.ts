/**
 * Sorting, stable and by the order of the language. Where all keys are ints or all
 * are strings the engine's own sort does it, and its work is stepped beforehand;
 * anything else goes through a merge sort here, so that a limit can end it and
 * what cannot be compared is reported in the terms of the program.
 */

import type { Thread } from "../run/thread.ts";
import { listWeight } from "../value/heap-weight.ts";
import { isOrdered } from "../value/order.ts";
import type { Value } from "../value/value.ts";

/**
 * Sort `items` by `keys`, in place.
 *
 * @param keys one for each item; `items` itself where they are their own keys.
 * @param reverse whether large keys come first; equal ones keep their order.
 * @throws {StarlarkError} `int < string not implemented`.
 */
export function sortByKeys(items: Value[], keys: readonly Value[], reverse: boolean, thread: Thread): void {
  const { length } = items;
  if (length < 2) return;
  const rounds = Math.ceil(Math.log2(length));
  if (keys.every((key) => typeof key === "number")) {
    thread.step((length * rounds) >> 1);
    sortUniform(items, keys as readonly number[], reverse, thread);
  } else if (keys.every((key) => typeof key === "string")) {
    // In each round an element is compared once, and read to its end at most.
    thread.step(rounds * (length + totalLength(keys as readonly string[]) / 32));
    sortUniform(items, keys as readonly string[], reverse, thread);
  } else {
    mergeSort(items, keys, reverse, thread);
  }
}

function totalLength(texts: readonly string[]): number {
  let total = 0;
  for (const text of texts) total += text.length;
  return Math.floor(total / 32) * 32;
}

/** The order of strings is that of UTF-16 code units, in JavaScript and in the language. */
function sortUniform<Key extends number | string>(
  items: Value[],
  keys: readonly Key[],
  reverse: boolean,
  thread: Thread,
): void {
  const sign = reverse ? -1 : 1;
  if (keys === (items as readonly Value[])) {
    // Equal ints and equal strings cannot be told apart: stable or not is the same.
    const own = items as Key[];
    own.sort((a, b) => (a < b ? -sign : a > b ? sign : 0));
    return;
  }
  thread.charge(listWeight(2 * items.length));
  const order = Array.from(items.keys());
  order.sort((i, j) => (keys[i]! < keys[j]! ? -sign : keys[i]! > keys[j]! ? sign : 0));
  const sorted = order.map((index) => items[index]!);
  for (let index = 0; index < sorted.length; index += 1) items[index] = sorted[index]!;
}

function mergeSort(items: Value[], keys: readonly Value[], reverse: boolean, thread: Thread): void {
  thread.charge(listWeight(3 * items.length));
  const order = Array.from(items.keys());
  sortRange(order, order.slice(), 0, items.length, (later, earlier) => {
    thread.step(1);
    const [a, b] = [keys[later]!, keys[earlier]!];
    return reverse ? isOrdered("<", b, a, thread) : isOrdered("<", a, b, thread);
  });
  const sorted = order.map((index) => items[index]!);
  for (let index = 0; index < sorted.length; index += 1) items[index] = sorted[index]!;
}

/** Whether the one that came later is to stand before the other. */
type Precedes = (later: number, earlier: number) => boolean;

/** Sort `order` from `start` to `end`; `spare` has the same elements there. */
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
