/**
 * The first entry of a table that shrinks from its front. A JavaScript `Map` keeps
 * what was deleted until it is made anew, so a search from the start for each of
 * many entries takes time in proportion to the square of their number. An iterator
 * that is kept goes on from where it was.
 */

import type { Key } from "../value/hash-key.ts";

const cursors = new WeakMap<ReadonlyMap<Key, unknown>, MapIterator<Key>>();

/**
 * Remove the first entry and return its key and value; `undefined` when the table
 * is empty. A kept cursor has only deleted entries behind it: what is added stands
 * at the end, and nothing but this moves the cursor.
 */
export function takeFirst<Entry>(table: Map<Key, Entry>): Entry | undefined {
  if (table.size === 0) return undefined;
  let cursor = cursors.get(table);
  let step = cursor?.next();
  if (step === undefined || step.done === true) {
    // An iterator that came to the end stays there.
    cursor = table.keys();
    cursors.set(table, cursor);
    step = cursor.next();
  }
  const key = step.value as Key;
  const entry = table.get(key);
  table.delete(key);
  return entry;
}
