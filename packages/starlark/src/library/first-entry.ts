/**
 * The first entry of a table whose entries are removed from the front. A JavaScript
 * `Map` keeps deleted entries until it is rehashed, so searching from the start for
 * each of many entries takes quadratic time. A cached iterator continues where it
 * stopped.
 */

import type { Key } from "../value/hash-key.ts";

const cursors = new WeakMap<ReadonlyMap<Key, unknown>, MapIterator<Key>>();

/**
 * Removes the first entry and returns its key and value; `undefined` if the table is
 * empty. Only deleted entries precede a cached iterator: new entries are added at the
 * end, and only this function advances it.
 */
export function takeFirst<Entry>(table: Map<Key, Entry>): Entry | undefined {
  if (table.size === 0) return undefined;
  let cursor = cursors.get(table);
  let step = cursor?.next();
  if (step === undefined || step.done === true) {
    // An iterator that has reached the end stays there.
    cursor = table.keys();
    cursors.set(table, cursor);
    step = cursor.next();
  }
  const key = step.value as Key;
  const entry = table.get(key);
  table.delete(key);
  return entry;
}
