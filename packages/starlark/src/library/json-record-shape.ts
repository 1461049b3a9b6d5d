/**
 * Guesses the keys of the next object in a JSON text. Objects that follow each other
 * often have the same keys, so the guess is the keys of an earlier object at the same
 * depth. The decoder compares the text with them instead of reading each key, and the
 * dicts share one array of keys.
 */

import { internalised, isShape, type Shape } from "../value/entry-table.ts";
import { weighString } from "../value/heap-weight.ts";
import type { StarlarkDict } from "../value/value.ts";
import type { JsonScanner } from "./json-scanner.ts";

/** Up to this length, a key costs one step. */
const maxKeyLength = 31;

/** The characters that JSON escapes. */
const escaped = /["\\\u0000-\u001f]/;

/** The keys of one or more decoded objects. */
export class RecordShape {
  readonly keys: Shape;
  /** The weight of each key. */
  readonly weights: readonly number[];

  private constructor(keys: Shape) {
    this.keys = keys.map(internalised);
    this.weights = keys.map(weighString);
  }

  /** The shape of a dict with string keys; `undefined` if it has none, or a long key, or one that JSON escapes. */
  static of(dict: StarlarkDict): RecordShape | undefined {
    const keys = dict.entries.smallKeys as readonly string[] | undefined;
    if (keys === undefined || keys.length === 0 || !isShape(keys)) return undefined;
    if (keys.some((key) => key.length > maxKeyLength || escaped.test(key))) return undefined;
    return new RecordShape(keys);
  }
}

/** The guess for the objects at one depth. */
export class RecordGuess {
  /** The keys to expect. */
  #shape: RecordShape | undefined = undefined;
  /** The last dict, until an object begins like it. */
  #last: StarlarkDict | undefined = undefined;
  #misses = 0;
  /** Number of misses before the guess changes. It grows, because a new guess costs time. */
  #patience = 1;

  /** The shape to expect of the object at whose first key the scanner is. */
  shapeAt(scanner: JsonScanner): RecordShape | undefined {
    const last = this.#last;
    if (last === undefined) return this.#shape;
    const first = last.entries.smallKeys?.[0] as string | undefined;
    if (first === undefined || !scanner.startsKey(first)) return undefined;
    this.#last = undefined;
    this.#misses = 0;
    this.#patience *= 2;
    this.#shape = RecordShape.of(last);
    return this.#shape;
  }

  /** Learns that an object became `dict`, without the shape to expect. */
  miss(dict: StarlarkDict): void {
    this.#misses += 1;
    if (this.#misses < this.#patience) return;
    this.#shape = undefined;
    this.#last = dict;
  }
}
