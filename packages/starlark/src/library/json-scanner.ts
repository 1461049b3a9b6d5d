/**
 * Scans the tokens of a JSON text (RFC 8259). It is strict: text that the grammar
 * does not allow is a `JsonError` with its offset in UTF-16 code units. The scanner
 * makes strings and numbers, which it charges, and never containers.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { bigIntWeight, stringWeight } from "../value/heap-weight.ts";
import { makeFloat, normalise } from "../value/number.ts";
import type { Value } from "../value/value.ts";

/** Maximum nesting of arrays and objects. @limit program */
export const maxJsonDepth = 1000;

/** Maximum number of digits of an int. @limit program */
export const maxIntDigits = 10_000;

/** From this length on, a regular expression finds the end of a string faster than a loop. */
const nearLength = 12;

/** The characters that a string has without escapes. */
const plainLatin = /[^"\\\u0000-\u001f\u0100-\uffff]*/y;
const plain = /[^"\\\u0000-\u001f]*/y;

/** Longer strings with escapes are decoded in pieces. */
const maxParsedAtOnce = 1 << 15;

/** Ints of this many digits are safe integers. */
const maxShortDigits = 15;

/**
 * Powers of ten that are doubles. The quotient of a safe integer and one of them is
 * rounded once, and so is the double nearest to the decimal.
 */
const powersOfTen = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
  1e20, 1e21, 1e22,
];
const maxPlaces = powersOfTen.length - 1;

/** The error for invalid JSON. The builtin that called the scanner converts it to an error of the program. */
export class JsonError extends Error {
  /** Offset in UTF-16 code units. */
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }

  /** The message for the builtin `builtin`. */
  toStarlarkError(builtin: string): StarlarkError {
    return new StarlarkError(`${builtin}: at offset ${this.offset}, ${this.message}`);
  }
}

const doubleQuote = 0x22;
const backslash = 0x5c;

export class JsonScanner {
  readonly text: string;
  /** Offset of the next token, or of the white space before it. */
  position = 0;
  readonly #thread: Thread;

  constructor(text: string, thread: Thread) {
    this.text = text;
    this.#thread = thread;
  }

  /** Skips white space. Returns the next code unit, or -1 at the end. */
  peek(): number {
    const { text, position } = this;
    if (position < text.length) {
      const unit = text.charCodeAt(position);
      if (unit > 0x20) return unit;
    }
    return this.#afterSpace();
  }

  #afterSpace(): number {
    const { text } = this;
    let at = this.position;
    for (; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) {
        this.position = at;
        return unit;
      }
    }
    this.position = at;
    return -1;
  }

  /** Like `peek`, but the end of the text is an error. */
  next(): number {
    const unit = this.peek();
    if (unit === -1) throw new JsonError(this.position, "unexpected end of file");
    return unit;
  }

  /** Consumes the colon after a key. */
  expectColon(): void {
    if (this.next() !== 0x3a) {
      throw new JsonError(this.position, `after object key, got ${this.quoted(this.position)}, want ':'`);
    }
    this.position += 1;
  }

  /** Checks that only white space follows. */
  expectEnd(): void {
    if (this.peek() !== -1) {
      throw new JsonError(this.position, `unexpected character ${this.quoted(this.position)} after value`);
    }
  }

  /** The error for a character that starts no value. */
  unexpected(): JsonError {
    return new JsonError(this.position, `unexpected character ${this.quoted(this.position)}`);
  }

  /** The character at `at` in single quotes. */
  quoted(at: number): string {
    const character = String.fromCodePoint(this.text.codePointAt(at) ?? 0).toWellFormed();
    if (character === "'") return "'\\''";
    if (character === '"') return "'\"'";
    return `'${JSON.stringify(character).slice(1, -1)}'`;
  }

  /** Reads a string, a number, `true`, `false` or `null`, which starts with `first`. */
  scalar(first: number): Value {
    switch (first) {
      case doubleQuote:
        return this.string();
      case 0x74:
        return this.#word("true", true);
      case 0x66:
        return this.#word("false", false);
      case 0x6e:
        return this.#word("null", null);
      default:
        if (first === 0x2d || isDigit(first)) return this.#shortNumber(first);
        throw this.unexpected();
    }
  }

  #word(word: string, value: boolean | null): boolean | null {
    if (!this.text.startsWith(word, this.position)) throw this.unexpected();
    this.position += word.length;
    return value;
  }

  /** Whether the next token is spelled as the string `key`, which contains nothing that JSON escapes. */
  startsKey(key: string): boolean {
    const { text } = this;
    if (this.next() !== doubleQuote) return false;
    const start = this.position + 1;
    const end = start + key.length;
    return end < text.length && text.charCodeAt(end) === doubleQuote && text.startsWith(key, start);
  }

  /** Consumes the key `key` if `startsKey`. */
  takeKey(key: string): boolean {
    if (!this.startsKey(key)) return false;
    this.position += key.length + 2;
    return true;
  }

  /** Reads a string from its opening quotation mark. */
  string(): string {
    const { text } = this;
    const start = this.position + 1;
    const near = Math.min(text.length, start + nearLength);
    let wide = 0;
    for (let at = start; at < near; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === doubleQuote) {
        this.#account(at - start, wide > 0xff);
        this.position = at + 1;
        return text.slice(start, at);
      }
      if (unit === backslash || unit < 0x20) return this.#specialString(start, at);
      wide |= unit;
    }
    return this.#longString(start, near, wide > 0xff);
  }

  /** Reads the rest of a string from `from`. */
  #longString(start: number, from: number, wide: boolean): string {
    const { text } = this;
    let at = wide ? from : endOfMatch(plainLatin, text, from);
    const isWide = wide || text.charCodeAt(at) > 0xff;
    if (isWide) at = endOfMatch(plain, text, at);
    if (at === text.length) throw new JsonError(start - 1, "unclosed string literal");
    if (text.charCodeAt(at) !== doubleQuote) return this.#specialString(start, at);
    this.#account(at - start, isWide);
    this.position = at + 1;
    return text.slice(start, at);
  }

  /** Reads a string whose first backslash or control character is at `at`. */
  #specialString(start: number, at: number): string {
    if (this.text.charCodeAt(at) !== backslash) throw this.#controlCharacter(at);
    return this.#shortEscapedString(start, at) ?? this.#escapedString(start, at);
  }

  #account(length: number, wide: boolean): void {
    this.#thread.charge(stringWeight(wide ? 2 * length : length));
    this.#thread.step(1 + (length >> 5));
  }

  #controlCharacter(at: number): JsonError {
    return new JsonError(at, `invalid character ${this.quoted(at)} in string literal`);
  }

  /** Reads a string with escapes, the first one at `firstEscape`. */
  #escapedString(start: number, firstEscape: number): string {
    const { text } = this;
    let result = "";
    let runStart = start;
    let at = firstEscape;
    while (at < text.length) {
      const unit = text.charCodeAt(at);
      if (unit === doubleQuote) {
        this.#account(at - runStart, true);
        this.position = at + 1;
        return result + text.slice(runStart, at);
      }
      if (unit === backslash) {
        this.#account(at - runStart + 1, true);
        result += text.slice(runStart, at) + this.#escape(start - 1, at);
        at += text.charCodeAt(at + 1) === 0x75 ? 6 : 2;
        runStart = at;
      } else {
        if (unit < 0x20) throw this.#controlCharacter(at);
        at += 1;
      }
    }
    throw new JsonError(start - 1, "unclosed string literal");
  }

  /**
   * Reads a string with escapes that is neither long nor wrong; `undefined` if it is.
   * It is charged as if each piece between escapes were made.
   */
  #shortEscapedString(start: number, firstEscape: number): string | undefined {
    const { text } = this;
    const last = Math.min(text.length, start + maxParsedAtOnce);
    let escapes = 0;
    let at = firstEscape;
    let length = 0;
    for (; at < last; length += 1) {
      const unit = text.charCodeAt(at);
      if (unit === doubleQuote) break;
      if (unit < 0x20) return undefined;
      if (unit !== backslash) at += 1;
      else {
        at += text.charCodeAt(at + 1) === 0x75 ? 6 : 2;
        escapes += 1;
      }
    }
    if (at >= last) return undefined;
    length += firstEscape - start;
    this.#thread.charge(escapes * stringWeight(0) + stringWeight(2 * length));
    this.#thread.step(escapes + 1 + (length >> 5));
    this.position = at + 1;
    try {
      return JSON.parse(text.slice(start - 1, at + 1)) as string;
    } catch {
      return undefined;
    }
  }

  /** Decodes the escape at `at`. */
  #escape(stringStart: number, at: number): string {
    const { text } = this;
    if (at + 1 >= text.length) throw new JsonError(stringStart, "unclosed string literal");
    const letter = text[at + 1]!;
    if (letter === "u") {
      const digits = text.slice(at + 2, at + 6);
      if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw new JsonError(at, `invalid \\u escape in string literal`);
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = simpleEscapes.get(letter);
    if (character === undefined) {
      throw new JsonError(at, `invalid character ${this.quoted(at + 1)} in string escape code`);
    }
    return character;
  }

  /** Reads a number without an exponent whose digits, as an int, are exact in a double. */
  #shortNumber(first: number): Value {
    const { text } = this;
    const negative = first === 0x2d;
    const start = negative ? this.position + 1 : this.position;
    let at = start;
    let size = 0;
    let unit = text.charCodeAt(at);
    for (; isDigit(unit) && at - start <= maxShortDigits; unit = text.charCodeAt(at)) {
      size = size * 10 + (unit - 0x30);
      at += 1;
    }
    const whole = at - start;
    if (whole === 0 || whole > maxShortDigits) return this.#number();
    if (whole > 1 && text.charCodeAt(start) === 0x30) return this.#number();
    let places = 0;
    if (unit === 0x2e) {
      at += 1;
      for (unit = text.charCodeAt(at); isDigit(unit) && places < maxPlaces; unit = text.charCodeAt(at)) {
        size = size * 10 + (unit - 0x30);
        at += 1;
        places += 1;
      }
      if (places === 0 || size > Number.MAX_SAFE_INTEGER) return this.#number();
    }
    if (isDigit(unit) || isNumberMark(unit)) return this.#number();
    this.#thread.step(1 + ((at - this.position) >> 5));
    this.position = at;
    if (places === 0) return negative ? 0 - size : size;
    const double = size / powersOfTen[places]!;
    return makeFloat(negative ? -double : double, this.#thread);
  }

  #number(): Value {
    const { text } = this;
    const start = this.position;
    let end = start + 1;
    let isFloat = false;
    for (; end < text.length; end += 1) {
      const unit = text.charCodeAt(end);
      if (isDigit(unit)) continue;
      if (!isNumberMark(unit)) break;
      isFloat = true;
    }
    this.#thread.step(1 + ((end - start) >> 5));
    const literal = text.slice(start, end);
    if (!numberGrammar.test(literal)) throw invalidNumber(start, literal);
    this.position = end;
    if (!isFloat) return this.#int(start, literal);
    const double = Number(literal);
    if (!Number.isFinite(double)) throw invalidNumber(start, literal);
    return makeFloat(double, this.#thread);
  }

  #int(start: number, literal: string): number | bigint {
    if (literal.length < 16) return Number(literal) + 0;
    const digits = literal.startsWith("-") ? literal.length - 1 : literal.length;
    if (digits > maxIntDigits) {
      throw new JsonError(start, `int of ${digits} digits: the limit is ${maxIntDigits}`);
    }
    this.#thread.charge(bigIntWeight(literal.length * 4));
    this.#thread.step(literal.length >> 3);
    return normalise(BigInt(literal));
  }
}

const numberGrammar = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function invalidNumber(offset: number, literal: string): JsonError {
  return new JsonError(
    offset,
    `invalid number: ${literal.length > 60 ? `${literal.slice(0, 60)}…` : literal}`,
  );
}

/** The end of the match of a sticky `pattern` at `from`. */
function endOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}

/** Whether a code unit is one of `.eE+-`. */
function isNumberMark(unit: number): boolean {
  return unit === 0x2e || unit === 0x65 || unit === 0x45 || unit === 0x2b || unit === 0x2d;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
