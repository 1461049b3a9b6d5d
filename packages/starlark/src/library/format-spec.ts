/**
 * Formats values by a format specification: the text after the colon in
 * `f"{x:>8.2f}"`. Ints, floats and strings are formatted as in Python; other values
 * support no specification. Widths count code points.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { formatExponent, formatFixed, formatGeneral, formatShortest } from "../value/float-text.ts";
import { type Int, isInt, toDouble } from "../value/number.ts";
import { repr, str } from "../value/repr.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkFloat, type Value } from "../value/value.ts";
import { intText } from "./format-percent.ts";
import { type FormatSpec, isFormatSpec, parseFormatSpec } from "./format-spec-syntax.ts";
import { chargeString, isWide } from "./string-build.ts";
import { countCodePoints } from "./string-characters.ts";
import { excerpt } from "./string-split.ts";

/**
 * Formats `value` as `spec` says; without `spec`, like `str`.
 *
 * @param conversion `s` or `r` converts the value to a string first.
 * @throws {StarlarkError} for an invalid specification, and for one that values of
 *   this type do not support.
 */
export function formatWithSpec(
  value: Value,
  conversion: "s" | "r" | undefined,
  spec: string,
  t: Thread,
): string {
  if (spec === "") return conversion === "r" ? repr(value, t) : str(value, t);
  const read = parseFormatSpec(spec);
  if (!isFormatSpec(read)) throw failure(spec, read.problem, read.hint);
  if (conversion !== undefined)
    return formatString(conversion === "r" ? repr(value, t) : str(value, t), read, spec, t);
  if (typeof value === "string") return formatString(value, read, spec, t);
  if (isInt(value)) {
    return isFloatType(read.type)
      ? formatNumber(floatParts(toDouble(value), read), read, t)
      : formatInt(value, read, spec, t);
  }
  if (value instanceof StarlarkFloat) {
    if (read.type !== "" && !isFloatType(read.type)) {
      throw failure(
        spec,
        `format code ${read.type} is not for float`,
        "use .0f, or int(x) for the whole number",
      );
    }
    return formatNumber(floatParts(value.value, read), read, t);
  }
  throw failure(
    spec,
    `${typeOf(value)} takes no format specification`,
    value === null
      ? "the value is None: choose a replacement, as in x or 0"
      : "write !s before the colon, which makes a string of it",
  );
}

function isFloatType(type: string): boolean {
  return type !== "" && "eEfFgG%".includes(type);
}

function failure(spec: string, problem: string, hint: string): StarlarkError {
  return new StarlarkError(`format specification "${excerpt(spec)}": ${problem}`, { hint });
}

function formatString(text: string, spec: FormatSpec, source: string, t: Thread): string {
  const refused = partForNumbers(spec);
  if (refused !== undefined) {
    const hint = "make a number of it first, with int(x) or float(x)";
    throw failure(source, `${refused} is not for string`, hint);
  }
  const kept = spec.precision === undefined ? text : firstCharacters(text, spec.precision);
  return pad("", kept, spec, spec.align ?? "<", t);
}

/** The option in `spec` that only numbers support; `undefined` if there is none. */
function partForNumbers(spec: FormatSpec): string | undefined {
  if (spec.type !== "" && spec.type !== "s") return `format code ${spec.type}`;
  if (spec.sign !== undefined) return "a sign";
  if (spec.alternate) return "#";
  if (spec.coerceZero) return "z";
  return spec.align === "=" ? "= (alignment after the sign)" : spec.grouping;
}

function firstCharacters(text: string, count: number): string {
  let at = 0;
  for (let taken = 0; taken < count && at < text.length; taken += 1) {
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

/** The parts of a formatted number. */
interface NumberParts {
  /** `-`, `+`, a space or nothing, followed by a prefix such as `0x`. */
  readonly lead: string;
  /** The digits before the point. */
  readonly whole: string;
  /** The point and the digits after it. */
  readonly rest: string;
}

function formatInt(int: Int, spec: FormatSpec, source: string, t: Thread): string {
  const { type } = spec;
  if (type === "s")
    throw failure(source, "format code s is not for int", "leave the code out, or write !s before the colon");
  if (spec.precision !== undefined)
    throw failure(source, "a precision is not for int", "use a code of floats, such as .2f");
  if (spec.coerceZero) throw failure(source, "z is not for int", "leave it out");
  if (type === "c") return formatCharacter(int, spec, source, t);
  const radix = type === "b" ? 2 : type === "o" ? 8 : type === "x" || type === "X" ? 16 : 10;
  const digits = intText(int < 0 ? -int : int, radix, t);
  const prefix = spec.alternate && radix !== 10 ? `0${type}` : "";
  const lead = signOf(int < 0, spec) + prefix;
  return formatNumber({ lead, whole: type === "X" ? digits.toUpperCase() : digits, rest: "" }, spec, t);
}

function formatCharacter(int: Int, spec: FormatSpec, source: string, t: Thread): string {
  if (spec.sign !== undefined || spec.alternate) {
    throw failure(source, "a sign or # is not for format code c", "leave it out");
  }
  if (int < 0 || int > 0x10ffff || (int >= 0xd800 && int <= 0xdfff)) {
    throw failure(
      source,
      `${excerpt(String(int))} is not a Unicode code point`,
      "c formats a code point, such as the result of ord",
    );
  }
  return formatNumber({ lead: "", whole: "", rest: String.fromCodePoint(Number(int)) }, spec, t);
}

function signOf(negative: boolean, spec: FormatSpec): string {
  if (negative) return "-";
  return spec.sign === "+" || spec.sign === " " ? spec.sign : "";
}

function floatParts(x: number, spec: FormatSpec): NumberParts {
  const percent = spec.type === "%";
  const value = percent ? x * 100 : x;
  let text = Number.isFinite(value) ? finiteText(Math.abs(value), spec) : Number.isNaN(value) ? "nan" : "inf";
  if (spec.type !== "" && "EFG".includes(spec.type)) text = text.toUpperCase();
  const negative = value < 0 || Object.is(value, -0);
  const isZero = spec.coerceZero && !/[1-9a-z]/i.test(text.replace(/e.*/i, ""));
  const digits = /^[0-9]*/.exec(text)![0];
  return {
    lead: signOf(negative && !isZero, spec),
    whole: digits,
    rest: text.slice(digits.length) + (percent ? "%" : ""),
  };
}

/** Formats a finite float that is not negative. */
function finiteText(x: number, spec: FormatSpec): string {
  const { alternate, precision } = spec;
  switch (spec.type) {
    case "":
      if (precision === undefined) return alternate ? withPoint(formatShortest(x)) : formatShortest(x);
      return formatGeneral(x, precision, { alternate, keepsPoint: true });
    case "g":
    case "G":
      return formatGeneral(x, precision ?? 6, { alternate });
    case "e":
    case "E": {
      const text = formatExponent(x, precision ?? 6);
      return alternate ? withPoint(text) : text;
    }
    default: {
      const text = formatFixed(x, precision ?? 6);
      return alternate ? withPoint(text) : text;
    }
  }
}

/** `text` with a point after its first digits, if it has none. */
function withPoint(text: string): string {
  return text.includes(".") ? text : text.replace(/^[0-9]+/, "$&.");
}

function formatNumber(parts: NumberParts, spec: FormatSpec, t: Thread): string {
  const align = spec.align ?? (spec.zero ? "=" : ">");
  const fill = spec.fill ?? (spec.zero ? "0" : " ");
  const outside = parts.lead.length + parts.rest.length;
  const least = fill === "0" && align === "=" ? spec.width - outside : 0;
  const whole = grouped(parts.whole, least, spec);
  if (align === "=") return pad(parts.lead, whole + parts.rest, { ...spec, fill }, ">", t);
  return pad("", parts.lead + whole + parts.rest, { ...spec, fill }, align, t);
}

/** Groups `digits` with separators, and pads them with zeros to `least` characters. */
function grouped(digits: string, least: number, spec: FormatSpec): string {
  // Infinities and NaN have no digits to group.
  if (spec.grouping === undefined || digits === "") return digits.padStart(least, "0");
  const size = spec.type !== "" && "boxX".includes(spec.type) ? 4 : 3;
  const groups: string[] = [];
  let left = digits.length;
  let missing = least;
  for (;;) {
    const length = Math.min(size, Math.max(left, missing, 1));
    const start = Math.max(0, left - length);
    groups.push(digits.slice(start, left).padStart(length, "0"));
    left = start;
    missing -= length;
    if (left <= 0 && missing <= 0) return groups.reverse().join(spec.grouping);
    missing -= 1;
  }
}

/** `lead` and `text`, padded to the width; charged. */
function pad(lead: string, text: string, spec: FormatSpec, align: "<" | ">" | "^" | "=", t: Thread): string {
  const fill = spec.fill ?? (spec.zero ? "0" : " ");
  const characters =
    spec.width === 0 || text.length > 2 * spec.width ? text.length : countCodePoints(text, t);
  const missing = Math.max(0, spec.width - lead.length - characters);
  const length = lead.length + text.length + missing * fill.length;
  t.step(length >> 5);
  chargeString(length, isWide(text) || isWide(fill), t);
  const left = align === "<" ? 0 : align === "^" ? missing >> 1 : missing;
  return lead + fill.repeat(left) + text + fill.repeat(missing - left);
}
