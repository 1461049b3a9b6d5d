/**
 * Arithmetic of ints and floats. An int is a JavaScript number if it is a safe
 * integer (never -0), and otherwise a bigint; every result is normalized to this
 * form. An int has at most `maxIntBits` bits, so that no single operation takes long.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { bigIntWeight, floatWeight } from "./heap-weight.ts";
import { StarlarkFloat, type Value } from "./value.ts";

/** An int in either form. */
export type Int = number | bigint;

/** Maximum number of bits of an int. @limit program */
export const maxIntBits = 65_536;

const most = Number.MAX_SAFE_INTEGER;

/** Normalizes `big`: a number if it is a safe integer. */
export function normalise(big: bigint): Int {
  return big <= mostBig && big >= -mostBig ? Number(big) : big;
}

/** Whether `value` is an int (bools are not). */
export function isInt(value: Value): value is Int {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether `value` is an int or a float. */
export function isNumber(value: Value): value is Int | StarlarkFloat {
  return typeof value === "number" || typeof value === "bigint" || value instanceof StarlarkFloat;
}

/** Ints of at least this many bits are beyond the range of doubles. */
const beyondDoubles = 1n << 1_024n;

/** The number of bits by which a big int is shifted at a time, until it is in the range of doubles. */
const strides: readonly { readonly from: bigint; readonly by: number }[] = [
  { from: 1n << 16_384n, by: 15_360 },
  { from: 1n << 4_096n, by: 3_840 },
  { from: beyondDoubles, by: 960 },
];

const bitsOf64 = 1n << 64n;
const mostBig = BigInt(most);

/** An upper bound for the number of bits of `big`: at most one too many, and at least 64. */
export function bitLengthBound(big: bigint): number {
  let rest = big < 0n ? -big : big;
  if (rest < bitsOf64) return 64;
  let shifted = 0;
  for (const { from, by } of strides) {
    while (rest >= from) {
      rest >>= BigInt(by);
      shifted += by;
    }
  }
  return shifted + exponentOf(Number(rest)) + 1;
}

const scratch = new DataView(new ArrayBuffer(8));

/** The binary exponent of a positive, normal double; 1024 for infinity. */
function exponentOf(x: number): number {
  scratch.setFloat64(0, x);
  return (scratch.getUint32(0) >>> 20) - 1023;
}

/** Normalizes the bigint result of an operation and charges it. */
function settled(big: bigint, t: Thread): Int {
  if (big <= mostBig && big >= -mostBig) return Number(big);
  if (big < bitsOf64 && big > -bitsOf64) {
    t.charge(smallBigIntWeight);
    return big;
  }
  return weighed(big, bitLengthBound(big), t);
}

/** Charges an int that is known not to be a safe integer and to have at most this many bits. */
function weighed(big: bigint, bits: number, t: Thread): bigint {
  if (bits > maxIntBits + 64) throw tooLarge();
  t.charge(bigIntWeight(bits));
  t.step(bits >> 8);
  return big;
}

const smallBigIntWeight = bigIntWeight(64);

/** The error for an int with more than `maxIntBits` bits. */
export function tooLarge(): StarlarkError {
  return new StarlarkError(`int too large: the limit is ${maxIntBits} bits`, { kind: "resource" });
}

export function addInts(x: Int, y: Int, t: Thread): Int {
  if (typeof x === "number" && typeof y === "number") {
    const sum = x + y;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return settled(BigInt(x) + BigInt(y), t);
}

export function subtractInts(x: Int, y: Int, t: Thread): Int {
  if (typeof x === "number" && typeof y === "number") {
    const difference = x - y;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return settled(BigInt(x) - BigInt(y), t);
}

export function multiplyInts(x: Int, y: Int, t: Thread): Int {
  if (typeof x === "number" && typeof y === "number") {
    const product = x * y;
    // `+ 0` turns -0 into 0.
    if (Number.isSafeInteger(product)) return product + 0;
    return settled(BigInt(x) * BigInt(y), t);
  }
  if (x === 0 || y === 0) return 0;
  const a = BigInt(x);
  const b = BigInt(y);
  const bits = bitLengthBound(a) + bitLengthBound(b);
  if (bits > maxIntBits + 128) throw tooLarge();
  t.step((bits * bits) >> 16);
  // One operand is no safe integer, and the other one is at least 1.
  return weighed(a * b, bits, t);
}

/**
 * Steps for a division, which takes time in proportion to both sizes. Few digits are
 * included in the step of the expression.
 */
function stepDivision(a: bigint, b: bigint, t: Thread): void {
  if (a < beyondDoubles && a > -beyondDoubles) return;
  t.step(((bitLengthBound(a) >> 5) * (bitLengthBound(b) >> 5)) >> 6);
}

/** `x // y`, rounded down. */
export function floorDivideInts(x: Int, y: Int, t: Thread): Int {
  if (y === 0) throw new StarlarkError("floored division by zero");
  if (typeof x === "number" && typeof y === "number") {
    const remainder = x % y;
    // This is exact: x - remainder is a multiple of y, and both are safe integers.
    const quotient = (x - remainder) / y;
    return (remainder !== 0 && remainder < 0 !== y < 0 ? quotient - 1 : quotient) + 0;
  }
  const [a, b] = [BigInt(x), BigInt(y)];
  stepDivision(a, b, t);
  const quotient = a / b;
  const remainder = a % b;
  return settled(remainder !== 0n && remainder < 0n !== b < 0n ? quotient - 1n : quotient, t);
}

/** `x % y`, with the sign of `y`. */
export function moduloInts(x: Int, y: Int, t: Thread): Int {
  if (y === 0) throw new StarlarkError("integer modulo by zero");
  if (typeof x === "number" && typeof y === "number") {
    const remainder = x % y;
    return (remainder !== 0 && remainder < 0 !== y < 0 ? remainder + y : remainder) + 0;
  }
  const [a, b] = [BigInt(x), BigInt(y)];
  stepDivision(a, b, t);
  const remainder = a % b;
  return settled(remainder !== 0n && remainder < 0n !== b < 0n ? remainder + b : remainder, t);
}

/** `x << y`. */
export function shiftLeft(x: Int, y: Int, t: Thread): Int {
  if (y < 0) throw new StarlarkError(`negative shift count: ${y}`);
  if (y >= 512) throw new StarlarkError(`shift count too large: ${y}`);
  if (typeof x === "number") {
    const shifted = x * 2 ** Number(y);
    if (shifted <= most && shifted >= -most) return shifted;
  }
  const big = BigInt(x);
  if (bitLengthBound(big) + Number(y) > maxIntBits + 64) throw tooLarge();
  return settled(big << BigInt(y), t);
}

/** `x >> y`, rounded down. */
export function shiftRight(x: Int, y: Int, t: Thread): Int {
  if (y < 0) throw new StarlarkError(`negative shift count: ${y}`);
  // This is exact: dividing by a power of two only lowers the exponent.
  if (typeof x === "number") return Math.floor(x / 2 ** Number(y > 1000 ? 1000 : y));
  return settled(BigInt(x) >> BigInt(y), t);
}

/** `x & y`, `x | y`, `x ^ y`. */
export function bitwise(operator: "&" | "|" | "^", x: Int, y: Int, t: Thread): Int {
  if (typeof x === "number" && typeof y === "number") {
    // Two's complement in two halves; the upper half has the sign.
    const [a, b] = [Math.floor(x / 2 ** 32), Math.floor(y / 2 ** 32)];
    const upper = operator === "&" ? a & b : operator === "|" ? a | b : a ^ b;
    const lower = operator === "&" ? x & y : operator === "|" ? x | y : x ^ y;
    const result = upper * 2 ** 32 + (lower >>> 0);
    if (result >= -most) return result;
  }
  const [a, b] = [BigInt(x), BigInt(y)];
  return settled(operator === "&" ? a & b : operator === "|" ? a | b : a ^ b, t);
}

/** `-x`. */
export function negateInt(x: Int, t: Thread): Int {
  return typeof x === "number" ? 0 - x : settled(-x, t);
}

/** Creates a float and charges it. */
export function makeFloat(x: number, t: Thread): StarlarkFloat {
  t.charge(floatWeight);
  return new StarlarkFloat(x);
}

/**
 * Converts an int or float to a double, for arithmetic with a float.
 *
 * @throws {StarlarkError} for an int beyond the range of doubles.
 */
export function toDouble(x: Int | StarlarkFloat): number {
  if (typeof x === "number") return x;
  if (typeof x !== "bigint") return x.value;
  const double = Number(x);
  if (!Number.isFinite(double)) throw new StarlarkError("int too large to convert to float");
  return double;
}

/** `x // y` of floats. */
export function floorDivideFloats(x: number, y: number): number {
  if (y === 0) throw new StarlarkError("floored division by zero");
  return Math.floor(x / y);
}

/** `x % y` of floats, with the sign of `y`. */
export function moduloFloats(x: number, y: number): number {
  if (y === 0) throw new StarlarkError("floating-point modulo by zero");
  const remainder = x % y;
  return remainder !== 0 && remainder < 0 !== y < 0 ? remainder + y : remainder;
}

/**
 * Rounds `x` toward zero to an int.
 *
 * @throws {StarlarkError} for infinities and NaN.
 */
export function truncateToInt(x: number): Int {
  if (Number.isSafeInteger(x)) return x + 0;
  if (!Number.isFinite(x)) {
    const what = Number.isNaN(x) ? "float NaN" : "float infinity";
    throw new StarlarkError(`cannot convert ${what} to integer`);
  }
  return normalise(BigInt(Math.trunc(x)));
}

/**
 * Compares two numbers, exactly even for a big int and a float: negative, 0 or
 * positive. NaN sorts after all others.
 */
export function compareNumbers(x: Int | StarlarkFloat, y: Int | StarlarkFloat): number {
  const a = x instanceof StarlarkFloat ? x.value : x;
  const b = y instanceof StarlarkFloat ? y.value : y;
  // JavaScript compares a bigint with a number exactly.
  if (a < b) return -1;
  if (a > b) return 1;
  if (typeof a === "number" && Number.isNaN(a)) return typeof b === "number" && Number.isNaN(b) ? 0 : 1;
  if (typeof b === "number" && Number.isNaN(b)) return -1;
  return 0;
}
