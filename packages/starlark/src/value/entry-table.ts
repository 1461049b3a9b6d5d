/**
 * The table of a dict, in insertion order. Most dicts are records of a few fields. Up
 * to `smallSize` entries, a table is two arrays, of keys and of values, that are
 * searched linearly: this is faster than hashing and takes a third of the space.
 * Larger tables are a `Map`.
 *
 * Records with the same keys often occur in groups, such as the elements of a JSON
 * array or the results of one expression. They can share one array of keys, their
 * shape; a shared array is copied before it changes. An expression that reads a key
 * then does not need to search again in a record of the same shape (`placeOf`).
 */

import { takeFirst } from "../library/first-entry.ts";
import type { Key } from "./hash-key.ts";
import type { Value } from "./value.ts";

/** One entry of a dict. */
export interface DictEntry {
  /** The result of `hashKey` for the key. */
  readonly hashed: Key;
  readonly key: Value;
  readonly value: Value;
}

/** The keys of a record in order. None of them starts with NUL. Immutable. */
export type Shape = readonly string[];

const smallSize = 8;

/** Whether a record with these distinct keys can have a shape. */
export function isShape(keys: readonly Value[]): boolean {
  return keys.length <= smallSize && keys.every((key) => typeof key === "string" && key.charCodeAt(0) !== 0);
}

/**
 * Returns `text` as an internalized string of the JavaScript engine. The engine
 * compares two such strings by address. Substrings of the source text are not
 * internalized.
 */
export function internalised(text: string): string {
  const names: Record<string, true> = Object.create(null);
  names[text] = true;
  return Object.keys(names)[0]!;
}

/** The value of an entry, which can be replaced in place. */
interface MapEntry extends DictEntry {
  value: Value;
}

/** Entries by hashed key. */
export class EntryTable {
  /** For a small table: the results of `hashKey` for the keys, in order. */
  #hashed: Key[];
  /** The keys; the same array as the hashed keys if every key is its own hashed key. */
  #keys: Value[];
  #values: Value[];
  /** Whether other tables share the array of keys. */
  #shared: boolean;
  #map: Map<Key, MapEntry> | undefined = undefined;

  /** Creates an empty table, or a record of `shape`. The table takes ownership of `values`. */
  constructor(shape?: Shape, values: Value[] = []) {
    const keys = (shape ?? []) as string[];
    this.#hashed = keys;
    this.#keys = keys;
    this.#values = values;
    this.#shared = shape !== undefined;
  }

  get size(): number {
    return this.#map === undefined ? this.#values.length : this.#map.size;
  }

  /** The shape of the record, if it was created with one and its keys have not changed. */
  get shape(): readonly Key[] | undefined {
    return this.#shared ? this.#hashed : undefined;
  }

  /** The keys of a small table in order. */
  get smallKeys(): readonly Value[] | undefined {
    return this.#map === undefined ? this.#keys : undefined;
  }

  /** The value at a place that `placeOf` returned for this shape. */
  at(place: number): Value {
    return this.#values[place]!;
  }

  /** The place of `hashed` in a small table; -1 if it is missing. */
  placeOf(hashed: Key): number {
    const keys = this.#hashed;
    for (let place = 0; place < keys.length; place += 1) {
      if (keys[place] === hashed) return place;
    }
    return -1;
  }

  get(hashed: Key): Value | undefined {
    if (this.#map !== undefined) return this.#map.get(hashed)?.value;
    const place = this.placeOf(hashed);
    return place === -1 ? undefined : this.#values[place];
  }

  has(hashed: Key): boolean {
    return this.#map === undefined ? this.placeOf(hashed) !== -1 : this.#map.has(hashed);
  }

  /** Replaces the value of a key. Returns whether the key exists. */
  replace(hashed: Key, value: Value): boolean {
    if (this.#map === undefined) {
      const place = this.placeOf(hashed);
      if (place === -1) return false;
      this.#values[place] = value;
      return true;
    }
    const entry = this.#map.get(hashed);
    if (entry === undefined) return false;
    entry.value = value;
    return true;
  }

  /** Adds an entry whose key does not exist yet. */
  add(hashed: Key, key: Value, value: Value): void {
    if (this.#map === undefined && this.#values.length === smallSize) this.#grow();
    if (this.#map !== undefined) {
      this.#map.set(hashed, { hashed, key, value });
      return;
    }
    this.#ownKeys();
    if (this.#keys === this.#hashed && key !== hashed) this.#keys = this.#keys.slice();
    this.#hashed.push(hashed);
    if (this.#keys !== this.#hashed) this.#keys.push(key);
    this.#values.push(value);
  }

  /** Removes an entry. Returns its value, or `undefined` if it does not exist. */
  delete(hashed: Key): Value | undefined {
    if (this.#map !== undefined) {
      const entry = this.#map.get(hashed);
      if (entry === undefined) return undefined;
      this.#map.delete(hashed);
      return entry.value;
    }
    const place = this.placeOf(hashed);
    return place === -1 ? undefined : this.#remove(place);
  }

  /** Removes and returns the first entry; `undefined` if the table is empty. */
  takeFirst(): DictEntry | undefined {
    if (this.#map !== undefined) return takeFirst(this.#map);
    if (this.#values.length === 0) return undefined;
    const [hashed, key] = [this.#hashed[0]!, this.#keys[0]!];
    return { hashed, key, value: this.#remove(0) };
  }

  clear(): void {
    this.#hashed = [];
    this.#keys = this.#hashed as Value[];
    this.#values = [];
    this.#shared = false;
    this.#map = undefined;
  }

  /** Iterates over all entries in order. The table must not change meanwhile. */
  values(): IterableIterator<DictEntry> {
    if (this.#map !== undefined) return this.#map.values();
    const keys = this.#keys;
    const values = this.#values;
    return this.#hashed
      .map((hashed, place) => ({ hashed, key: keys[place]!, value: values[place]! }))
      .values();
  }

  #remove(place: number): Value {
    this.#ownKeys();
    this.#hashed.splice(place, 1);
    if (this.#keys !== this.#hashed) this.#keys.splice(place, 1);
    return this.#values.splice(place, 1)[0]!;
  }

  /** Copies shared keys before they change. */
  #ownKeys(): void {
    if (!this.#shared) return;
    // The keys of a shape are their own hashed keys.
    this.#hashed = this.#hashed.slice();
    this.#keys = this.#hashed as Value[];
    this.#shared = false;
  }

  #grow(): void {
    const map = new Map<Key, MapEntry>();
    for (const { hashed, key, value } of this.values()) map.set(hashed, { hashed, key, value });
    this.clear();
    this.#map = map;
  }
}
