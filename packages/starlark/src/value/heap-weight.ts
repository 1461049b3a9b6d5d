/**
 * The weights of values on the simulated heap, in bytes. The numbers are those of V8
 * on 64 bits without pointer compression, rounded so that a charge is between 0.8 and
 * 1.25 times the actual size; a test measures them. They are the same on every
 * machine, and so is the point where a program runs out of memory.
 *
 * Code that makes a value charges for it first: `thread.charge(listWeight(n))`. Heap
 * walks use the `weight()` of each object.
 */

/** One element of a list or tuple. */
export const elementWeight = 10;
/** One entry of a dict. */
export const dictEntryWeight = 80;
/** One field of a dict that was created as a record and still has its keys. */
export const recordFieldWeight = 16;
/** One member of a set. */
export const setMemberWeight = 50;
/** A float, or a small int that is no safe integer. */
export const floatWeight = 40;

/** A list of `length` elements, without the values that it refers to. */
export function listWeight(length: number): number {
  return 104 + elementWeight * length;
}

/** A tuple of `length` elements. */
export function tupleWeight(length: number): number {
  return 80 + elementWeight * length;
}

/** An empty dict or set. */
export const tableWeight = 150;

/** A struct of `count` fields. */
export function structWeight(count: number): number {
  return 150 + 50 * count;
}

/** A string of `length` code units, all of them Latin-1. */
export function stringWeight(length: number): number {
  return 24 + length;
}

const wide = /[^\x00-\xff]/;

/** `text`, which weighs twice as much if a character is beyond Latin-1. Reads the whole text. */
export function weighString(text: string): number {
  return 24 + (wide.test(text) ? 2 : 1) * text.length;
}

/** Bytes of `length` octets. */
export function bytesWeight(length: number): number {
  return 200 + length;
}

/** An int of `bits` bits that is no safe integer. */
export function bigIntWeight(bits: number): number {
  return 24 + Math.ceil(bits / 64) * 8;
}
