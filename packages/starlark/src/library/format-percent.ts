/**
 * `format % args`: conversions of one letter, without flags, widths and precisions,
 * with the messages of go.starlark.net.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { formatExponent, formatFixed, formatFloat, formatNonFinite } from "../value/float-text.ts";
import { bitLengthBound, type Int, isNumber, toDouble, truncateToInt } from "../value/number.ts";
import { repr, str } from "../value/repr.ts";
import { dictGet } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkDict, StarlarkFloat, StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { StringBuilder } from "./string-build.ts";
import { firstCharacter } from "./string-characters.ts";
import { createSearch, indexOf } from "./string-search.ts";
import { excerpt } from "./string-split.ts";

/** Digits after the point for `%e` and `%f`. */
const places = 6;

/**
 * Replaces the conversions in `format`.
 *
 * @param args a tuple with one element for each conversion, a dict for `%(key)s`, or
 *   the operand of a single conversion.
 * @throws {StarlarkError} if the conversions and operands do not match.
 */
export function formatPercent(format: string, args: Value, t: Thread): string {
  const operands = new Operands(args);
  const text = new StringBuilder(t);
  const findPercent = createSearch("%", t);
  let at = 0;
  for (let percent = findPercent.find(format, 0); percent !== -1; percent = findPercent.find(format, at)) {
    text.add(format.slice(at, percent));
    at = percent + 1;
    if (format[at] === "%") {
      text.add("%");
      at += 1;
      continue;
    }
    let operand: Value;
    if (format[at] === "(") {
      const close = indexOf(format, ")", at, t);
      if (close === -1) throw new StarlarkError("incomplete format key");
      operand = operands.byKey(format.slice(at + 1, close), t);
      at = close + 1;
    } else {
      operand = operands.next();
    }
    if (at === format.length) throw new StarlarkError("incomplete format", { hint: percentHint });
    const letter = firstCharacter(format.slice(at, at + 2));
    text.add(convert(letter, operand, t));
    at += letter.length;
    operands.count += 1;
  }
  text.add(format.slice(at));
  if (operands.left > 0) throw new StarlarkError("too many arguments for format string");
  return text.finish();
}

const percentHint = "write %% for a literal percent sign";

/** The right operand of `%`. */
class Operands {
  /** Number of conversions so far. */
  count = 0;
  readonly #args: Value;
  readonly #total: number;

  constructor(args: Value) {
    this.#args = args;
    this.#total = args instanceof StarlarkTuple ? args.items.length : 1;
  }

  /** Number of unused operands. */
  get left(): number {
    return this.#args instanceof StarlarkDict ? 0 : this.#total - this.count;
  }

  next(): Value {
    if (this.count >= this.#total) {
      const list = this.#args instanceof StarlarkList && this.#args.items.length > 1;
      throw new StarlarkError("not enough arguments for format string", {
        hint: list ? "several conversions take a tuple: write % tuple(list)" : percentHint,
      });
    }
    return this.#args instanceof StarlarkTuple ? this.#args.items[this.count]! : this.#args;
  }

  byKey(key: string, t: Thread): Value {
    if (!(this.#args instanceof StarlarkDict)) throw new StarlarkError("format requires a mapping");
    const value = dictGet(this.#args, key, t);
    if (value === undefined) throw new StarlarkError(`key not found: ${excerpt(key)}`);
    return value;
  }
}

function convert(letter: string, operand: Value, t: Thread): string {
  switch (letter) {
    case "s":
      return str(operand, t);
    case "r":
      return repr(operand, t);
    case "d":
    case "i":
      return intText(wantInt(letter, operand), 10, t);
    case "o":
      return intText(wantInt(letter, operand), 8, t);
    case "x":
      return intText(wantInt(letter, operand), 16, t);
    case "X":
      return intText(wantInt(letter, operand), 16, t).toUpperCase();
    case "e":
    case "f":
    case "g":
      return floatText(letter, wantDouble(letter, operand));
    case "E":
    case "F":
    case "G":
      return floatText(letter.toLowerCase(), wantDouble(letter, operand)).replace("e", "E");
    case "c":
      return characterText(operand);
    case "%":
      return "%";
    default:
      throw new StarlarkError(`unknown conversion %${letter}`, {
        hint: /[-+ #0-9.*]/.test(letter)
          ? "% takes no flags, width or precision: make the text of the value first, and use %s"
          : percentHint,
      });
  }
}

/** Formats an int in base `radix` and charges the text. */
export function intText(int: Int, radix: number, t: Thread): string {
  if (typeof int === "number") return int.toString(radix);
  const bits = bitLengthBound(int);
  // Converting to decimal digits takes quadratic time.
  t.step(radix === 10 ? ((bits >> 6) ** 2) >> 6 : bits >> 6);
  t.charge(24 + bits / Math.floor(Math.log2(radix)));
  return int.toString(radix);
}

function wantInt(letter: string, operand: Value): Int {
  const prefix = `%${letter} format requires integer`;
  if (!isNumber(operand)) throw new StarlarkError(`${prefix}: cannot convert ${typeOf(operand)} to int`);
  if (!(operand instanceof StarlarkFloat)) return operand;
  if (Number.isFinite(operand.value)) return truncateToInt(operand.value);
  const what = Number.isNaN(operand.value) ? "float NaN" : "float infinity";
  throw new StarlarkError(`${prefix}: cannot convert ${what} to integer`);
}

function wantDouble(letter: string, operand: Value): number {
  if (isNumber(operand)) return toDouble(operand);
  throw new StarlarkError(`%${letter} format requires float, not ${typeOf(operand)}`);
}

function floatText(letter: string, x: number): string {
  if (!Number.isFinite(x)) return formatNonFinite(x);
  if (letter === "g") return formatFloat(x);
  return letter === "e" ? formatExponent(x, places) : formatFixed(x, places);
}

function characterText(operand: Value): string {
  if (typeof operand === "string") {
    if (operand !== "" && firstCharacter(operand) === operand) return operand;
    throw new StarlarkError("%c format requires a single-character string");
  }
  if (typeof operand !== "number" && typeof operand !== "bigint") {
    throw new StarlarkError(`%c format requires int or single-character string, not ${typeOf(operand)}`);
  }
  if (operand < 0 || operand > 0x10ffff) {
    throw new StarlarkError(`%c format requires a valid Unicode code point, got ${operand}`);
  }
  const point = Number(operand);
  return point >= 0xd800 && point <= 0xdfff ? "\ufffd" : String.fromCodePoint(point);
}
