/**
 * The table of a dict: associations in the order in which they came. Most dicts
 * are records of a few fields; up to `smallSize` they are a plain list that is
 * gone through, which is quicker than hashing and takes a third of the space.
 * Larger ones are a `Map`.
 */

import { takeFirst } from "../library/first-entry.ts";
import type { Key } from "./hash-key.ts";
import type { Value } from "./value.ts";

/** One association of a dict; its place in the order stays when its value is replaced. */
export interface DictEntry {
  /** What `hashKey` gives for the key. */
  readonly hashed: Key;
  readonly key: Value;
  value: Value;
}

const smallSize = 8;

/** Associations by hashed key. */
export class EntryTable {
  #list: DictEntry[] | undefined = [];
  #map: Map<Key, DictEntry> | undefined = undefined;

  get size(): number {
    return this.#list === undefined ? this.#map!.size : this.#list.length;
  }

  get(hashed: Key): DictEntry | undefined {
    const list = this.#list;
    if (list === undefined) return this.#map!.get(hashed);
    for (let index = 0; index < list.length; index += 1) {
      const entry = list[index]!;
      if (entry.hashed === hashed) return entry;
    }
    return undefined;
  }

  has(hashed: Key): boolean {
    return this.get(hashed) !== undefined;
  }

  /** Add an association whose key is not there yet. */
  add(hashed: Key, key: Value, value: Value): void {
    const entry: DictEntry = { hashed, key, value };
    const list = this.#list;
    if (list === undefined) {
      this.#map!.set(hashed, entry);
    } else if (list.length < smallSize) {
      list.push(entry);
    } else {
      const map = new Map<Key, DictEntry>();
      for (const one of list) map.set(one.hashed, one);
      map.set(hashed, entry);
      this.#map = map;
      this.#list = undefined;
    }
  }

  /** Remove an association; whether it was there. */
  delete(hashed: Key): boolean {
    const list = this.#list;
    if (list === undefined) return this.#map!.delete(hashed);
    const index = list.findIndex((entry) => entry.hashed === hashed);
    if (index === -1) return false;
    list.splice(index, 1);
    return true;
  }

  /** Remove the first association and return it; `undefined` when there is none. */
  takeFirst(): DictEntry | undefined {
    return this.#list === undefined ? takeFirst(this.#map!) : this.#list.shift();
  }

  clear(): void {
    this.#list = [];
    this.#map = undefined;
  }

  /** All associations in order. The table must not change while this is gone through. */
  values(): IterableIterator<DictEntry> {
    return this.#list === undefined ? this.#map!.values() : this.#list.values();
  }

  /** The associations as a list, when the table is small. */
  get small(): readonly DictEntry[] | undefined {
    return this.#list;
  }
}
