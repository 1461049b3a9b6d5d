/**
 * Collects the texts of any values, such as the causes of errors, so that they can be searched for secrets.
 *
 * Invariant: it returns all texts or none. A value that has more than the walk may read, or parts that nobody can read
 * without running code of others (accessors, proxies, instances of classes with a state of their own), has none. It runs
 * no such code, and cannot see private fields of subclasses of Error nor what their methods return.
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

/** The prototypes of errors of the runtime, whose accessors are no code of others. */
const nativeErrorPrototypes: ReadonlySet<unknown> = new Set(
  [
    Error,
    AggregateError,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    DOMException,
  ].map(({ prototype }): unknown => prototype),
);
/** What logs and inspection read of every error. */
const readOfErrors = ["name", "message", "stack", "cause", Symbol.toStringTag];
/** The accessor by which V8 returns the stack of any error. */
const nativeStack = Reflect.getOwnPropertyDescriptor(new Error(), "stack")?.get;

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
    if (one instanceof Error) {
      // An accessor can return another text the next time.
      if (!this.#addClasses(one, texts)) return false;
      for (const text of [one.name, one.message, one.stack]) waiting.push(text);
    } else if (typeof one === "function") this.#add(texts, Function.prototype.toString.call(one));
    else if (types.isMap(one)) Map.prototype.forEach.call(one, (value, key) => waiting.push(key, value));
    else if (types.isSet(one)) Set.prototype.forEach.call(one, (value) => waiting.push(value));
    for (const key of Reflect.ownKeys(one)) {
      if (this.#unitsLeft < 0) return false;
      const field = Reflect.getOwnPropertyDescriptor(one, key);
      const isValue = field !== undefined && "value" in field;
      if (isValue && typeof key === "string" && without.includes(key)) continue;
      if (!Array.isArray(one) || key === "length") this.#add(texts, String(key));
      if (isValue) waiting.push(field.value);
      else if (!(one instanceof Error && isStack(key, field))) return false;
    }
    return true;
  }

  /**
   * Adds what the classes of an error show of it, such as their names.
   *
   * @returns whether all of that can be read, and is the same at each time that it is read
   */
  #addClasses(error: Error, texts: string[]): boolean {
    let prototype: object | null = error;
    while (prototype !== null && !nativeErrorPrototypes.has(prototype)) {
      if (types.isProxy(prototype)) return false;
      for (const key of readOfErrors) {
        const field = Reflect.getOwnPropertyDescriptor(prototype, key);
        if (field !== undefined && !("value" in field) && !isStack(key, field)) return false;
        if (typeof field?.value === "string") this.#add(texts, field.value);
      }
      const made: unknown = Reflect.getOwnPropertyDescriptor(prototype, "constructor")?.value;
      if (typeof made === "function") {
        const name = Reflect.getOwnPropertyDescriptor(made, "name") ?? { value: "" };
        if (typeof name.value !== "string") return false;
        this.#add(texts, name.value);
      }
      prototype = Reflect.getPrototypeOf(prototype);
    }
    return true;
  }
}

function isStack(key: string | symbol, field: PropertyDescriptor | undefined): boolean {
  return key === "stack" && nativeStack !== undefined && field?.get === nativeStack;
}

/** Whether all that an object has is in its own fields, its entries or its bytes. */
function isReadable(one: object): boolean {
  if (types.isProxy(one)) return false;
  if (one instanceof Uint8Array || one instanceof DOMException) return true;
  // Its own inspection shows what no field has.
  if (inspect.custom in one) return false;
  return one instanceof Error || plainPrototypes.has(Reflect.getPrototypeOf(one));
}
