/**
 * Collects the texts of any values, such as the causes of errors, so that they can be searched for secrets.
 *
 * Invariant: it returns all texts or none. A value that has more than the walk may read, or parts that nobody can read
 * without running code of others (accessors, proxies, instances of classes with a state of their own), has none. It runs
 * no such code but that of the name, message and stack of an error, and cannot see private fields of subclasses of Error.
 */

import { inspect, types } from "node:util";

/** Objects that one walk reads. */
const maxObjects = 10_000;
/** Items of lists, entries and fields that one walk reads: listing them takes longer than reading their texts. */
const maxMembers = 50_000;
/** UTF-16 units of the texts of one walk, with the names of fields. */
const maxUnits = 1_000_000;
/** Bytes of one array of bytes. */
const maxBytes = 65_536;

const plainPrototypes: ReadonlySet<unknown> = new Set([
  null,
  ...[Object, Array, Map, Set, Date, Function].map(({ prototype }): unknown => prototype),
]);

/** One walk through values that belong together. What it has read once is not read again. */
export class TextWalk {
  #objectsLeft = maxObjects;
  #membersLeft = maxMembers;
  #unitsLeft = maxUnits;
  readonly #seen = new Set<object>();

  /**
   * Returns all texts of a value, each on lines of its own; undefined where that is not possible. Never throws.
   *
   * @param without names of fields of `value` itself that do not count. @default none
   */
  textsOf(value: unknown, without: readonly string[] = []): string | undefined {
    const texts: string[] = [];
    const waiting: unknown[] = [value];
    try {
      while (waiting.length > 0) {
        const one = waiting.pop();
        if (typeof one === "function" || (typeof one === "object" && one !== null)) {
          if (this.#seen.has(one)) continue;
          this.#seen.add(one);
          this.#objectsLeft -= 1;
          if (!isReadable(one) || !this.#hasRoomFor(one)) return undefined;
          const isWhole = this.#addParts(one, one === value ? without : [], texts, waiting);
          if (!isWhole) return undefined;
        } else if (one !== null && one !== undefined && typeof one !== "boolean")
          this.#add(texts, String(one));
        if (this.#unitsLeft < 0 || this.#objectsLeft < 0) return undefined;
      }
    } catch {
      // An object of a kind that is not what it seems to be.
      return undefined;
    }
    return texts.join("\n");
  }

  #add(texts: string[], text: string): void {
    this.#unitsLeft -= text.length + 1;
    texts.push(text);
  }

  /** Whether an object is small enough to read its parts. Counts them. */
  #hasRoomFor(one: object): boolean {
    if (ArrayBuffer.isView(one)) return one.byteLength <= maxBytes;
    if (Array.isArray(one) && one.length > this.#membersLeft) return false;
    const entries = types.isMap(one) || types.isSet(one) ? one.size : 0;
    this.#membersLeft -= entries + Object.keys(one).length;
    return this.#membersLeft >= 0;
  }

  /** Adds the texts of an object, and what it refers to. @returns whether all parts can be read */
  #addParts(one: object, without: readonly string[], texts: string[], waiting: unknown[]): boolean {
    if (one instanceof Uint8Array) {
      const bytes = Buffer.from(one.buffer, one.byteOffset, one.byteLength);
      this.#add(texts, bytes.toString("latin1"));
      this.#add(texts, bytes.toString("utf8"));
      return Reflect.ownKeys(one).length === one.length;
    }
    if (one instanceof Error) for (const text of [one.name, one.message, one.stack]) waiting.push(text);
    else if (typeof one === "function") this.#add(texts, Function.prototype.toString.call(one));
    else if (types.isMap(one)) Map.prototype.forEach.call(one, (value, key) => waiting.push(key, value));
    else if (types.isSet(one)) Set.prototype.forEach.call(one, (value) => waiting.push(value));
    for (const key of Reflect.ownKeys(one)) {
      if (this.#unitsLeft < 0) return false;
      if (typeof key === "string" && without.includes(key)) continue;
      if (!Array.isArray(one) || key === "length") this.#add(texts, String(key));
      const field = Reflect.getOwnPropertyDescriptor(one, key);
      const isOfError = one instanceof Error && key === "stack";
      if (field !== undefined && "value" in field) waiting.push(field.value);
      else if (!isOfError) return false;
    }
    return true;
  }
}

/** Whether all that an object has is in its own fields, its entries or its bytes. */
function isReadable(one: object): boolean {
  if (types.isProxy(one)) return false;
  if (one instanceof Uint8Array || one instanceof DOMException) return true;
  // Its own inspection shows what no field has.
  if (inspect.custom in one) return false;
  return one instanceof Error || plainPrototypes.has(Reflect.getPrototypeOf(one));
}
