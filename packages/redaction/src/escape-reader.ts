/**
 * Reads escapes where a prefilter meets one. An escape stands for one character,
 * unless that character is itself a lead: "%", a backslash, or "&". The matcher
 * reads these. The reader accepts every other spelling of `text-symbol.ts` and
 * some more: a prefilter may accept too much, and must never skip a form.
 */

import type { Units } from "./form-matcher.ts";
import { entityNames } from "./text-symbol.ts";

/** The units that begin an escape. */
export const leads = "%\\&";

const percent = 0x25;
const backslash = 0x5c;

/** 1 at the index of each unit that is a lead. */
export const leadFlags: Uint8Array = new Uint8Array(1 << 16);
for (let at = 0; at < leads.length; at += 1) leadFlags[leads.charCodeAt(at)] = 1;

/** The result for a lead that stands for itself, or for another lead. */
export const noCharacter = -1;
/** The result for an escape that the end of the input can divide. */
export const truncated = -2;
/** The result for any character above 127. */
const highUnit = 0x80;

/** Number of backslashes that can precede an escaped character. */
export const maxBackslashes = 16;
/** `%41`, `%2541`, `%252541`. */
const percentDepths = 3;
/** More than the digits of any entity, with zeros. */
const maxEntityDigits = 14;
/** The letters of `&DiacriticalGrave;`. */
const maxEntityLetters = 16;

/** Reads the escape at a lead. */
export class EscapeReader {
  /** The position after the escape that was read last. */
  end = 0;
  /** Number of units that were read, a measure of work. */
  steps = 0;
  #lastAt = -1;
  #lastResult = noCharacter;
  #lastEnd = 0;

  /** Forgets the last escape. Required before a different input. */
  reset(): void {
    this.#lastAt = -1;
  }

  /** Returns the character of the escape at `at`, where a lead is; `noCharacter` or `truncated` if there is none. */
  read(input: Units, at: number): number {
    // A place is read for the symbol before it, and then for itself.
    if (at === this.#lastAt) {
      this.end = this.#lastEnd;
      return this.#lastResult;
    }
    const unit = input[at] as number;
    let result: number;
    if (unit === backslash) result = this.#readBackslashes(input, at);
    else if (unit === percent) result = this.#readPercent(input, at);
    else result = this.#readEntity(input, at);
    this.steps += this.end - at;
    this.#lastAt = at;
    this.#lastResult = result;
    this.#lastEnd = this.end;
    return result;
  }

  #readPercent(input: Units, start: number): number {
    const { length } = input;
    let at = start + 1;
    this.end = at;
    for (let depth = 0; depth < percentDepths; depth += 1) {
      if (at >= length) return truncated;
      const high = hexValue(input[at] as number);
      if (high < 0) return noCharacter;
      if (at + 1 >= length) return truncated;
      const low = hexValue(input[at + 1] as number);
      if (low < 0) return noCharacter;
      at += 2;
      this.end = at;
      const byte = (high << 4) | low;
      if (byte !== percent) return characterOf(byte);
    }
    return noCharacter;
  }

  /** `\n`, `\u0061`, `\/` and `\x`, after up to 16 backslashes. */
  #readBackslashes(input: Units, start: number): number {
    const { length } = input;
    const last = Math.min(start + maxBackslashes, length);
    let at = start + 1;
    while (at < last && (input[at] as number) === backslash) at += 1;
    this.end = at;
    if (at >= length) return truncated;
    const unit = input[at] as number;
    this.end = at + 1;
    if (unit === letterU) return this.#readUnicode(input, at + 1);
    return unit < 0x80 ? (escapedUnits[unit] as number) : highUnit;
  }

  /** The four digits of `\u0061`. */
  #readUnicode(input: Units, start: number): number {
    let unit = 0;
    for (let at = start; at < start + 4; at += 1) {
      if (at >= input.length) return truncated;
      const digit = hexValue(input[at] as number);
      if (digit < 0) return noCharacter;
      unit = (unit << 4) | digit;
    }
    this.end = start + 4;
    return characterOf(unit);
  }

  /** `&#97;`, `&#x61;`, `&lowbar;`, each also after `&amp;` instead of "&". */
  #readEntity(input: Units, start: number): number {
    const { length } = input;
    let at = start + 1;
    if (hasAmp(input, at)) at += 4;
    this.end = at;
    if (at >= length) return truncated;
    if ((input[at] as number) === numberSign) return this.#readNumber(input, at + 1);
    const last = Math.min(at + maxEntityLetters, length);
    let end = at;
    while (end < last && isLetter(input[end] as number)) end += 1;
    this.end = end;
    if (end >= length) return truncated;
    if (end === at || (input[end] as number) !== semicolon) return noCharacter;
    this.end = end + 1;
    return unitsByName.get(textAt(input, at, end)) ?? noCharacter;
  }

  #readNumber(input: Units, start: number): number {
    const { length } = input;
    const isHex = start < length && ((input[start] as number) | 0x20) === letterX;
    const first = isHex ? start + 1 : start;
    const radix = isHex ? 16 : 10;
    let at = first;
    let code = 0;
    for (;;) {
      this.end = at;
      if (at >= length) return truncated;
      const digit = hexValue(input[at] as number);
      if (digit < 0 || digit >= radix) break;
      if (at - first >= maxEntityDigits) return noCharacter;
      code = code * radix + digit;
      at += 1;
    }
    if (at === first || (input[at] as number) !== semicolon) return noCharacter;
    this.end = at + 1;
    return characterOf(code);
  }
}

const letterU = 0x75;
const letterX = 0x78;
const numberSign = 0x23;
const semicolon = 0x3b;

/** The character of a code: leads are none, because the matcher reads them. */
function characterOf(code: number): number {
  if (code >= highUnit) return highUnit;
  return leadFlags[code] === 1 ? noCharacter : code;
}

/** The character that each unit is after backslashes. Letters and digits are none, except those of an escape. */
const escapedUnits: Int8Array = createEscapedUnits();

function createEscapedUnits(): Int8Array {
  const units = Int8Array.from({ length: 0x80 }, (_, unit) => characterOf(unit));
  for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    units[character.charCodeAt(0)] = noCharacter;
  // `\x` stands before a byte in hexadecimal, as ":" does.
  for (const [letter, character] of ["n\n", "r\r", "t\t", "b\b", "f\f", "x:"])
    units[(letter as string).charCodeAt(0)] = (character as string).charCodeAt(0);
  return units;
}

const unitsByName: ReadonlyMap<string, number> = new Map(
  Object.entries(entityNames).flatMap(([character, names]) =>
    names.map((name) => [name, characterOf(character.charCodeAt(0))] as const),
  ),
);

function hasAmp(input: Units, at: number): boolean {
  return (
    at + 4 <= input.length &&
    (input[at] as number) === 0x61 &&
    (input[at + 1] as number) === 0x6d &&
    (input[at + 2] as number) === 0x70 &&
    (input[at + 3] as number) === semicolon
  );
}

function isLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** The value of each ASCII unit as a hexadecimal digit; -1 for others. */
const hexValues: Int8Array = Int8Array.from({ length: 0x80 }, (_, unit) => {
  const value = Number.parseInt(String.fromCharCode(unit), 16);
  return Number.isNaN(value) ? -1 : value;
});

function hexValue(unit: number): number {
  return unit < 0x80 ? (hexValues[unit] as number) : -1;
}

function textAt(input: Units, start: number, end: number): string {
  return String.fromCharCode(...input.subarray(start, end));
}
