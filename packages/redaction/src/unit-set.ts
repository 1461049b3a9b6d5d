/**
 * Sets of units. A unit is what a matcher reads one at a time: a byte of a
 * stream, or a UTF-16 code unit of a text.
 */

/** The units that may stand at one place: 1 at the index of each. Has 256 entries or more. */
export type UnitSet = Uint8Array;

/** Number of entries of a set that holds bytes or ASCII characters only. */
export const byteCount = 256;

const singles = new Map<number, UnitSet>();
const hexDigits = new Map<string, UnitSet>();
const hexNumbers = new Map<string, readonly UnitSet[]>();
const literals = new Map<string, readonly UnitSet[]>();
const unitsBySet = new WeakMap<UnitSet, readonly number[]>();

/** Returns the set that holds `unit` only. */
export function singleUnit(unit: number): UnitSet {
  let set = singles.get(unit);
  if (set === undefined) {
    set = setOf([unit]);
    // Other units belong to single secrets; a cache of them would never shrink.
    if (unit < byteCount) singles.set(unit, set);
  }
  return set;
}

/** The code units of a hexadecimal digit, upper and lower case. */
function hexDigit(digit: string): UnitSet {
  let set = hexDigits.get(digit);
  if (set === undefined) {
    set = setOf([digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)]);
    hexDigits.set(digit, set);
  }
  return set;
}

/** Returns one set for each character of `text`, which is ASCII. */
export function literal(text: string): readonly UnitSet[] {
  let sets = literals.get(text);
  if (sets === undefined) {
    sets = Array.from(text, (character) => singleUnit(character.charCodeAt(0)));
    literals.set(text, sets);
  }
  return sets;
}

/** Returns one set for each hexadecimal digit of `number`, in both cases. */
export function hexDigitsOf(number: number, width: number): readonly UnitSet[] {
  const digits = number.toString(16).padStart(width, "0");
  let sets = hexNumbers.get(digits);
  if (sets === undefined) {
    sets = Array.from(digits, hexDigit);
    // Most are bytes; a cache of longer numbers would grow with each secret.
    if (number < byteCount) hexNumbers.set(digits, sets);
  }
  return sets;
}

/** Returns the set of `units`. */
export function setOf(units: readonly number[]): UnitSet {
  let size = byteCount;
  for (const unit of units) if (unit >= size) size = unit + 1;
  const set = new Uint8Array(size);
  const distinct: number[] = [];
  for (const unit of units) {
    if (set[unit] === 1) continue;
    set[unit] = 1;
    distinct.push(unit);
  }
  unitsBySet.set(set, distinct);
  return set;
}

/** Lists the units of `set`, which `setOf` created. */
export function unitsOf(set: UnitSet): readonly number[] {
  return unitsBySet.get(set) as readonly number[];
}
