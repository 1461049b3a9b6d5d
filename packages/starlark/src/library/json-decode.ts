/**
 * Decodes JSON text. Objects become dicts (`__proto__` is a key like any other, and
 * the last of several equal keys takes precedence), arrays become lists. Numbers
 * become ints if they have neither a point nor an exponent. Ints of any size are
 * exact.
 */

import type { Thread } from "../run/thread.ts";
import { listWeight } from "../value/heap-weight.ts";
import { dictSet, newDict } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import { type StarlarkDict, StarlarkList, type Value } from "../value/value.ts";
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

class Decoder {
  readonly #scanner: JsonScanner;
  readonly #thread: Thread;

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
    const items: Value[] = [];
    if (scanner.next() === 0x5d) {
      scanner.position += 1;
      return new StarlarkList(items);
    }
    for (;;) {
      this.#thread.chargeElement(items.length);
      items.push(this.#value(depth + 1));
      const unit = scanner.next();
      if (unit !== 0x2c && unit !== 0x5d) {
        throw new JsonError(scanner.position, `got ${scanner.quoted(scanner.position)}, want ',' or ']'`);
      }
      scanner.position += 1;
      if (unit === 0x5d) return new StarlarkList(items);
    }
  }

  #object(depth: number): StarlarkDict {
    const scanner = this.#scanner;
    const dict = newDict(this.#thread);
    if (scanner.next() === 0x7d) {
      scanner.position += 1;
      return dict;
    }
    for (;;) {
      const key = this.#key(depth);
      dictSet(dict, key, this.#value(depth + 1), this.#thread);
      const unit = scanner.next();
      if (unit !== 0x2c && unit !== 0x7d) {
        throw new JsonError(
          scanner.position,
          `in object, got ${scanner.quoted(scanner.position)}, want ',' or '}'`,
        );
      }
      scanner.position += 1;
      if (unit === 0x7d) return dict;
    }
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
