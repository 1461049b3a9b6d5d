/**
 * The grams near the beginning of the forms: four neighbouring classes of units,
 * as hashes. It has every gram that a form contains without an escape, and some
 * others by collision; but of grams with a separator that is a line break or a
 * tab it has none, because they would be too many. It grows with the number of
 * grams, so that the search for few secrets needs little memory.
 */

import { classBits, classOf, classOfCharacter, highClass } from "./unit-class.ts";

/** Number of units of a gram. */
export const gramLength = 4;

/** The kind of separators that can stand between the symbols of a form: none, line breaks with indentation, or those between bytes in hexadecimal. */
export type GapKind = "none" | "lines" | "bytes";

const minSizeBits = 14;
/** 512 KiB. With more grams, the set rejects less. */
const maxSizeBits = 22;
/** Bits for each gram: fewer reject less. */
const bitsPerGram = 16;

/** The classes of separators between bytes in hexadecimal, without line breaks and tabs. */
const separator = classOfCharacter(":");
const zero = classOfCharacter("0");
const letterX = classOfCharacter("x");
const byteSeparators: readonly (readonly number[])[] = [
  [separator],
  [separator, separator],
  [zero, letterX],
  [separator, zero, letterX],
  [separator, separator, zero, letterX],
];

/** Collects grams. */
export class GramSet {
  /** One bit for each hash. */
  bits = new Int32Array(1 << (minSizeBits - 5));
  /** A hash is shifted by this: it has as many bits as the index of a bit. */
  shift = 32 - minSizeBits;
  #count = 0;

  /** Makes room for `count` more grams. Returns whether the set is empty now, so that all grams have to be added again. */
  reserve(count: number): boolean {
    this.#count += count;
    const wanted = Math.ceil(Math.log2(this.#count * bitsPerGram));
    const sizeBits = Math.max(minSizeBits, Math.min(maxSizeBits, wanted));
    if (sizeBits <= 32 - this.shift) return false;
    this.bits = new Int32Array(1 << (sizeBits - 5));
    this.shift = 32 - sizeBits;
    return true;
  }

  /** Adds the grams of `row` that begin in its first `count` units. */
  addRow(row: string, gap: GapKind, count: number): void {
    const last = Math.min(count, row.length);
    const end = Math.min(row.length, last + gramLength - 1);
    let [one, two, three] = [0, 0, 0];
    let known = 0;
    for (let at = 0; at < end; at += 1) {
      const four = classOf[row.charCodeAt(at)] as number;
      // A prefilter accepts all grams with this class.
      known = four === highClass ? 0 : known + 1;
      if (known >= gramLength) this.#add(one, two, three, four);
      // Indentation, after a line break that the gram does not have.
      if (gap === "lines" && at > 0) {
        this.#add(separator, separator, separator, four);
        if (at > 1) this.#add(separator, separator, three, four);
        if (at > 2) this.#add(separator, two, three, four);
      }
      one = two;
      two = three;
      three = four;
    }
    if (gap === "lines") this.#add(separator, separator, separator, separator);
    if (gap === "bytes") this.#addSeparated(row, last);
  }

  /** Adds the grams of hexadecimal digits with separators between bytes. */
  #addSeparated(row: string, last: number): void {
    const classAt = (at: number): number => classOf[row.charCodeAt(at)] as number;
    for (let at = 0; at < last && at + 3 < row.length; at += 2) {
      const high = classAt(at);
      const low = classAt(at + 1);
      const nextHigh = classAt(at + 2);
      const nextLow = classAt(at + 3);
      for (let index = 0; index < byteSeparators.length; index += 1)
        this.#addClasses([high, low, ...(byteSeparators[index] as readonly number[]), nextHigh, nextLow]);
      // Separators before and after the second byte.
      const before = at + 4 < row.length ? [low, separator, letterX] : [];
      const after = at + 4 < row.length ? [classAt(at + 4), separator, zero] : [];
      for (const one of before) for (const two of after) this.#addClasses([one, nextHigh, nextLow, two]);
    }
  }

  #addClasses(classes: readonly number[]): void {
    for (let at = 0; at + gramLength <= classes.length; at += 1) {
      this.#add(
        classes[at] as number,
        classes[at + 1] as number,
        classes[at + 2] as number,
        classes[at + 3] as number,
      );
    }
  }

  #add(one: number, two: number, three: number, four: number): void {
    const hash = hashOf(one, two, three, four) >>> this.shift;
    this.bits[hash >>> 5] = (this.bits[hash >>> 5] as number) | (1 << hash);
  }
}

/** Returns the hash of a gram. */
export function hashOf(one: number, two: number, three: number, four: number): number {
  return Math.imul(
    (one << (3 * classBits)) | (two << (2 * classBits)) | (three << classBits) | four,
    0x9e3779b1,
  );
}

/** Returns about the number of grams that `addRow` adds. */
export function gramCountOf(row: string, gap: GapKind, count: number): number {
  const last = Math.min(count, row.length);
  if (gap === "none") return last;
  return gap === "bytes" ? last * 14 : last * 4;
}
