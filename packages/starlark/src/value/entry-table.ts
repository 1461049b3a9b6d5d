/**
 * The table of a dict: associations in the order in which they came. Most dicts
 * are records of a few fields; up to `smallSize` they are two plain lists, of keys
 * and of values, which are gone through: that is quicker than hashing and takes a
 * third of the space. Larger ones are a `Map`.
 *
 * Records come in rows, such as the elements of a JSON array or what one line of a
 * program makes again and again. Those with the same keys may share one list of
 * them, their shape: a list of keys is copied before it changes when it is shared.
 * Where a program reads a key, it then need not look for it again (`placeOf`).
 */

import { takeFirst } from "../library/first-entry.ts";
import type { Key } from "./hash-key.ts";
import type { Value } from "./value.ts";

/** One association of a dict. */
export interface DictEntry {
  /** What `hashKey` gives for the key. */
  readonly hashed: Key;
  readonly key: Value;
  readonly value: Value;
}

/** The keys of a record, none of which begins with NUL, in order; never changed. */
export type Shape = readonly string[];

const smallSize = 8;

/** Whether a record with these keys, all different, may be made of a shape. */
export function isShape(keys: readonly Value[]): boolean {
  return keys.length <= smallSize && keys.every((key) => typeof key === "string" && key.charCodeAt(0) !== 0);
}

/** The value of an association whose place in the order stays when it is replaced. */
interface MapEntry extends DictEntry {
  value: Value;
}

/** Associations by hashed key. */
export class EntryTable {
  /** While it is small: what `hashKey` gives for the keys, in order. */
  #hashed: Key[];
  /** The keys; the same list where every key stands for itself. */
  #keys: Value[];
  #values: Value[];
  /** Whether other tables have the same list of keys. */
  #shared: boolean;
  #map: Map<Key, MapEntry> | undefined = undefined;

  /** An empty table; or a record of `shape`, with `values` in its order, which are given away. */
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

  /** The shape of a record that was made of one and has its keys still. */
  get shape(): readonly Key[] | undefined {
    return this.#shared ? this.#hashed : undefined;
  }

  /** The keys in order, when the table is small. */
  get smallKeys(): readonly Value[] | undefined {
    return this.#map === undefined ? this.#keys : undefined;
  }

  /** The value at a place that `placeOf` gave for this shape. */
  at(place: number): Value {
    return this.#values[place]!;
  }

  /** Where in a small table `hashed` stands; -1 when it is not there. */
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

  /** Give the key another value; whether it was there. */
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

  /** Add an association whose key is not there yet. */
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

  /** Remove an association; its value, `undefined` when it was not there. */
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

  /** Remove the first association and return it; `undefined` when there is none. */
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

  /** All associations in order. The table must not change while this is gone through. */
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

  /** The lists of keys are about to change. */
  #ownKeys(): void {
    if (!this.#shared) return;
    // A shape has keys that stand for themselves.
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
