/**
 * Decodes JSON text. Objects become dicts (`__proto__` is a key like any other, and
 * the last of several equal keys takes precedence), arrays become lists. Numbers
 * become ints if they have neither a point nor an exponent. Ints of any size are
 * exact.
 *
 * Objects that follow each other often have the same keys. An object with the keys of
 * the last one at its depth, in the same order, becomes a record that shares them.
 */

import type { Thread } from "../run/thread.ts";
import { listWeight, recordFieldWeight, tableWeight } from "../value/heap-weight.ts";
import { dictSet } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkDict, StarlarkList, type Value } from "../value/value.ts";
import { RecordGuess, type RecordShape } from "./json-record-shape.ts";
import { JsonError, JsonScanner, maxJsonDepth } from "./json-scanner.ts";

/**
 * Decodes `text`.
 *
 * @throws {JsonError} if the text is not JSON, or exceeds the limits on depth and
 *   digits.
 */
export function decodeJson(text: string, thread: Thread): Value {
  const decoder = new Decoder(text, thread);
  return decoder.document();
}

/** Longer arrays grow as they are read. */
const maxShortArray = 32;

class Decoder {
  readonly #scanner: JsonScanner;
  readonly #thread: Thread;
  /** The guess for each depth. */
  readonly #guesses: RecordGuess[] = [];
  /** The values of the records and short arrays that are being read. */
  readonly #values: Value[] = [];
  /** Number of values in use. */
  #count = 0;

  constructor(text: string, thread: Thread) {
    this.#scanner = new JsonScanner(text, thread);
    this.#thread = thread;
  }

  document(): Value {
    const value = this.#value(0);
    this.#scanner.expectEnd();
    return value;
  }

  #value(depth: number): Value {
    const first = this.#scanner.next();
    if (first !== 0x5b && first !== 0x7b) return this.#scanner.scalar(first);
    if (depth >= maxJsonDepth) {
      throw new JsonError(this.#scanner.position, `nests too deep: the limit is ${maxJsonDepth} levels`);
    }
    this.#scanner.position += 1;
    return first === 0x5b ? this.#array(depth) : this.#object(depth);
  }

  #array(depth: number): StarlarkList {
    const scanner = this.#scanner;
    this.#thread.charge(listWeight(0));
    if (scanner.next() === 0x5d) {
      scanner.position += 1;
      return new StarlarkList([]);
    }
    const start = this.#count;
    let items: Value[] | undefined;
    for (let length = 0; ; length += 1) {
      this.#thread.chargeElement(length);
      const value = this.#value(depth + 1);
      if (items === undefined) this.#keep(value);
      else items.push(value);
      if (length === maxShortArray) items = this.#take(start);
      const unit = scanner.next();
      if (unit !== 0x2c && unit !== 0x5d) {
        throw new JsonError(scanner.position, `got ${scanner.quoted(scanner.position)}, want ',' or ']'`);
      }
      scanner.position += 1;
      if (unit === 0x5d) return new StarlarkList(items ?? this.#take(start));
    }
  }

  /** Keeps a value of the innermost record or short array. */
  #keep(value: Value): void {
    this.#values[this.#count] = value;
    this.#count += 1;
  }

  /** The values from `start` on, as an array without spare capacity. */
  #take(start: number): Value[] {
    const values = this.#values.slice(start, this.#count);
    this.#count = start;
    return values;
  }

  #object(depth: number): StarlarkDict {
    const scanner = this.#scanner;
    this.#thread.charge(tableWeight);
    const unit = scanner.next();
    if (unit === 0x7d) {
      scanner.position += 1;
      return new StarlarkDict();
    }
    // Only one object is outermost.
    const guess = depth === 0 ? undefined : this.#guessAt(depth);
    const shape = guess?.shapeAt(scanner);
    if (guess !== undefined && shape !== undefined) return this.#record(guess, shape, depth);
    const dict = new StarlarkDict();
    this.#members(dict, depth);
    guess?.miss(dict);
    return dict;
  }

  #guessAt(depth: number): RecordGuess {
    const known = this.#guesses[depth];
    if (known !== undefined) return known;
    const guess = new RecordGuess();
    this.#guesses[depth] = guess;
    return guess;
  }

  /** Reads an object that may have the keys of `shape`. */
  #record(guess: RecordGuess, shape: RecordShape, depth: number): StarlarkDict {
    const scanner = this.#scanner;
    const thread = this.#thread;
    const { keys, weights } = shape;
    const start = this.#count;
    let read = 0;
    let hasMore = true;
    while (hasMore && read < keys.length && scanner.takeKey(keys[read]!)) {
      thread.charge(weights[read]!);
      thread.step(1);
      scanner.expectColon();
      this.#keep(this.#value(depth + 1));
      read += 1;
      hasMore = this.#separator();
    }
    const values = this.#take(start);
    if (!hasMore && read === keys.length) {
      thread.charge(recordFieldWeight * read);
      return new StarlarkDict(keys, values);
    }
    const dict = new StarlarkDict();
    for (let place = 0; place < read; place += 1) dictSet(dict, keys[place]!, values[place]!, thread);
    if (hasMore) this.#members(dict, depth);
    guess.miss(dict);
    return dict;
  }

  /** Reads members up to the end of the object. */
  #members(dict: StarlarkDict, depth: number): void {
    do {
      const key = this.#key(depth);
      dictSet(dict, key, this.#value(depth + 1), this.#thread);
    } while (this.#separator());
  }

  /** Consumes what follows a member, and returns whether it was a comma. */
  #separator(): boolean {
    const scanner = this.#scanner;
    const unit = scanner.next();
    if (unit !== 0x2c && unit !== 0x7d) {
      throw new JsonError(
        scanner.position,
        `in object, got ${scanner.quoted(scanner.position)}, want ',' or '}'`,
      );
    }
    scanner.position += 1;
    return unit === 0x2c;
  }

  /** Reads a key and its colon. */
  #key(depth: number): string {
    const scanner = this.#scanner;
    const first = scanner.next();
    const start = scanner.position;
    const key = first === 0x22 ? scanner.string() : this.#value(depth + 1);
    if (typeof key !== "string") throw new JsonError(start, `got ${typeOf(key)} for object key, want string`);
    scanner.expectColon();
    return key;
  }
}
