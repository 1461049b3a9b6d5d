/**
 * The keys of records as JSON text: sorted, quoted, and with the punctuation around
 * them. Records next to each other often have the same keys, so the encoder keeps
 * the text of the last record at each depth.
 */

import type { Value } from "../value/value.ts";
import { quoteJson } from "./json-quote.ts";
import { isWide } from "./string-build.ts";

/** Longer keys are not kept, because what is kept is not charged. */
const maxKeyLength = 64;

/** The text before the value of one field. */
export interface FieldText {
  /** Where the key is in the record. */
  readonly place: number;
  /** The quoted key between `{` or a comma and a colon. */
  readonly text: string;
  /** Whether it has characters beyond Latin-1. */
  readonly wide: boolean;
}

/** The keys of one or more records. */
export class RecordKeys {
  /** In the order of the text. */
  readonly fields: readonly FieldText[];
  readonly #keys: readonly Value[];

  private constructor(keys: readonly string[]) {
    this.#keys = keys;
    const places = keys.map((_, place) => place);
    places.sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
    this.fields = places.map((place, order) => {
      const text = `${order === 0 ? "{" : ","}${quoteJson(keys[place]!)}:`;
      return { place, text, wide: isWide(text) };
    });
  }

  /** The keys of a record; `undefined` if a key is long or is not a string. */
  static of(keys: readonly Value[]): RecordKeys | undefined {
    const texts = keys.filter((key) => typeof key === "string");
    if (texts.length < keys.length || texts.some((key) => key.length > maxKeyLength)) return undefined;
    return new RecordKeys(texts);
  }

  /** Whether `keys` are these keys in the same order. */
  fits(keys: readonly Value[]): boolean {
    const own = this.#keys;
    if (own.length !== keys.length) return false;
    for (let place = 0; place < own.length; place += 1) {
      if (own[place] !== keys[place]) return false;
    }
    return true;
  }
}
