/**
 * The builtins that create numbers: `abs`, `bool`, `float`, `int`.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { bigIntWeight } from "../value/heap-weight.ts";
import {
  type Int,
  isInt,
  makeFloat,
  maxIntBits,
  negateInt,
  normalise,
  toDouble,
  truncateToInt,
} from "../value/number.ts";
import { truth } from "../value/truth.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkFloat, type Value } from "../value/value.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { prefixError } from "./prefix-error.ts";

/** Maximum length of a number that a message repeats. */
const shownLength = 100;

function shown(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength).toWellFormed()}…` : text;
}

function abs(thread: Thread, _self: Value, x: Value): Value {
  if (isInt(x)) return x < 0 ? negateInt(x, thread) : x;
  if (x instanceof StarlarkFloat) return makeFloat(Math.abs(x.value), thread);
  throw new StarlarkError(`abs: got ${typeOf(x)}, want int or float`);
}

function float(thread: Thread, _self: Value, x: Value | undefined): Value {
  if (x === undefined) return makeFloat(0, thread);
  if (x instanceof StarlarkFloat) return x;
  if (typeof x === "boolean") return makeFloat(x ? 1 : 0, thread);
  if (isInt(x)) {
    try {
      return makeFloat(toDouble(x), thread);
    } catch (error) {
      throw prefixError("float", error);
    }
  }
  if (typeof x !== "string") throw new StarlarkError(`float: got ${typeOf(x)}, want number or string`);
  thread.step(1 + (x.length >> 4));
  return makeFloat(parseFloatText(x), thread);
}

const floatGrammar = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const infinity = /^([+-]?)inf(?:inity)?$/i;

function parseFloatText(text: string): number {
  if (text === "") throw new StarlarkError("float: empty string");
  if (floatGrammar.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new StarlarkError("float: floating-point number too large");
    return value;
  }
  const sign = infinity.exec(text)?.[1];
  if (sign !== undefined) return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  throw new StarlarkError(`float: invalid float literal: ${shown(text)}`);
}

function int(thread: Thread, _self: Value, x: Value, base: Value | undefined): Value {
  if (typeof x === "string") return intOfText(x, wantBase(base), thread);
  if (base !== undefined) throw new StarlarkError("int: can't convert non-string with explicit base");
  if (isInt(x)) return x;
  if (typeof x === "boolean") return x ? 1 : 0;
  if (!(x instanceof StarlarkFloat)) throw new StarlarkError(`int: cannot convert ${typeOf(x)} to int`);
  try {
    return truncateToInt(x.value);
  } catch (error) {
    throw prefixError("int", error);
  }
}

function wantBase(base: Value | undefined): number {
  if (base === undefined) return 10;
  if (!isInt(base)) throw new StarlarkError(`int: for base, got ${typeOf(base)}, want int`);
  if (typeof base !== "number" || (base !== 0 && (base < 2 || base > 36))) {
    throw new StarlarkError("int: base must be an integer >= 2 && <= 36");
  }
  return base;
}

const basePrefixes: ReadonlyMap<string, number> = new Map([
  ["0b", 2],
  ["0o", 8],
  ["0x", 16],
]);

/** The text of a short decimal number, the most common case. */
const fewDigits = /^-?[0-9]{1,15}$/;

function intOfText(text: string, base: number, thread: Thread): Int {
  if (base === 10 && fewDigits.test(text)) {
    thread.step(1);
    return Number(text) + 0;
  }
  const invalid = (): StarlarkError => {
    const hint =
      base === 10 && floatGrammar.test(text) ? "for a text with a point, write int(float(x))" : undefined;
    return new StarlarkError(`int: invalid literal with base ${base}: ${shown(text)}`, { hint });
  };
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  const prefixed = unsigned.length > 2 ? basePrefixes.get(unsigned.slice(0, 2).toLowerCase()) : undefined;
  const usesPrefix = prefixed !== undefined && (base === 0 || base === prefixed);
  const digits = usesPrefix ? unsigned.slice(2) : unsigned;
  // If the text determines the base, a number that starts with 0 must be 0: this avoids accidental
  // octal numbers.
  if (base === 0 && !usesPrefix && digits.length > 1 && digits.startsWith("0") && !/^0+$/.test(digits))
    throw invalid();
  const radix = usesPrefix ? prefixed : base || 10;
  thread.step(1 + (digits.length >> 3));
  if (digits === "" || !isNumeral(digits, radix)) throw invalid();
  const magnitude = readDigits(digits, radix, thread);
  return text.startsWith("-") ? normalise(-magnitude) : normalise(magnitude);
}

function isNumeral(digits: string, radix: number): boolean {
  for (let at = 0; at < digits.length; at += 1) {
    if (!(digitValue(digits.charCodeAt(at)) < radix)) return false;
  }
  return true;
}

/** The value of an ASCII digit or letter; at least 36 for other characters. */
function digitValue(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a && unit < 0x80 ? lower - 0x57 : 36;
}

function readDigits(given: string, radix: number, thread: Thread): bigint {
  const digits = given.replace(/^0+/, "");
  const bits = Math.ceil(digits.length * Math.log2(radix));
  if (bits > maxIntBits + 8) {
    throw new StarlarkError(`int: number of ${digits.length} digits: the limit is ${maxIntBits} bits`);
  }
  thread.charge(bigIntWeight(bits));
  thread.step(((bits >> 6) ** 2) >> 6);
  return readRadix(digits, radix);
}

/** Parses `digits`: divides them in halves until each part is a safe integer. */
function readRadix(digits: string, radix: number): bigint {
  if (digits === "") return 0n;
  if (radix === 10) return BigInt(digits);
  if (digits.length * Math.log2(radix) <= 52) return BigInt(Number.parseInt(digits, radix));
  const half = digits.length >> 1;
  const low = digits.slice(digits.length - half);
  return readRadix(digits.slice(0, -half), radix) * BigInt(radix) ** BigInt(half) + readRadix(low, radix);
}

export const numberBuiltins: readonly Builtin[] = [
  builtin("abs(x, /)", "The absolute value of an int or float. `abs(-2)` gives `2`", abs),
  builtin(
    "bool(x?, /)",
    "The truth value of `x`: every value is true except `None`, `False`, zero and empty values. `bool([])` gives `False`",
    (_thread, _self, x: Value | undefined) => x !== undefined && truth(x),
  ),
  builtin(
    "float(x?, /)",
    'Converts a number, a bool or a text to a float; a text is such as `"1.5"`, `"1e3"`, `"inf"` or `"nan"`; `0.0` without an argument. `float("1.5")` gives `1.5`',
    float,
  ),
  builtin(
    "int(x, base?)",
    'Converts a number (a fraction is truncated), a bool or a text to an int. A text is parsed in `base`, from 2 to 36, 10 by default; with base 0, its prefix `0x`, `0o` or `0b` determines the base. `int("ff", 16)` gives `255`',
    int,
  ),
];
