/**
 * Escape sequences of string and bytes literals, and UTF-8 encoding for the latter.
 */

/** The meaning of an escape sequence. */
export interface Escape {
  /** A code point, or a byte; -1 for an escaped line break, which stands for nothing. */
  readonly value: number;
  /** Whether `value` is one byte of a bytes literal, rather than a character. */
  readonly isByte: boolean;
  /** Offset after the sequence. */
  readonly end: number;
  /** The error in the sequence, if any. */
  readonly problem?: string;
}

const singles: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["b", 8],
  ["f", 12],
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["v", 11],
  ["\\", 92],
  ["'", 39],
  ['"', 34],
]);

/** Decodes the escape sequence whose backslash is at `start`, in a literal that ends with `quote`. */
export function readEscape(text: string, start: number, quote: number, isBytes: boolean): Escape {
  const character = text[start + 1]!;
  const single = singles.get(character);
  if (single !== undefined) return { value: single, isByte: false, end: start + 2 };
  if (character === "\n") return { value: -1, isByte: false, end: start + 2 };
  if (character === "\r")
    return { value: -1, isByte: false, end: start + (text[start + 2] === "\n" ? 3 : 2) };
  if (character >= "0" && character <= "7") return readOctal(text, start, isBytes);
  if (character === "x") return readHex(text, start, quote, 2, isBytes);
  if (character === "u") return readHex(text, start, quote, 4, isBytes);
  if (character === "U") return readHex(text, start, quote, 8, isBytes);
  const shown = String.fromCodePoint(text.codePointAt(start + 1)!);
  return bad(start + 1 + shown.length, `invalid escape sequence \\${shown}`);
}

function readOctal(text: string, start: number, isBytes: boolean): Escape {
  let end = start + 1;
  let value = 0;
  while (end < start + 4) {
    const digit = text.charCodeAt(end) - 48;
    if (!(digit >= 0 && digit <= 7)) break;
    value = value * 8 + digit;
    end += 1;
  }
  if (value > 127 && !isBytes) {
    return bad(end, `non-ASCII octal escape \\${value.toString(8)} (${useInstead(value)})`);
  }
  if (value > 255) return bad(end, `invalid escape sequence \\${value.toString(8)}`);
  return { value, isByte: true, end };
}

function readHex(text: string, start: number, quote: number, digitCount: number, isBytes: boolean): Escape {
  const end = start + 2 + digitCount;
  for (let at = start + 2; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    if (at >= text.length || unit === quote || unit === 10 || unit === 13) {
      return bad(at, `truncated escape sequence ${text.slice(start, at)}`);
    }
  }
  const written = text.slice(start, end);
  const digits = written.slice(2);
  if (!/^[0-9a-fA-F]+$/.test(digits)) return bad(end, `invalid escape sequence ${written}`);
  const value = Number.parseInt(digits, 16);
  if (digitCount === 2) {
    if (value > 127 && !isBytes) return bad(end, `non-ASCII hex escape ${written} (${useInstead(value)})`);
    return { value, isByte: true, end };
  }
  if (value > 0x10ffff) return bad(end, `code point out of range: ${written} (max \\U0010ffff)`);
  if (value >= 0xd800 && value < 0xe000) {
    return bad(end, `invalid Unicode code point U+${value.toString(16).toUpperCase().padStart(4, "0")}`);
  }
  return { value, isByte: false, end };
}

function useInstead(value: number): string {
  const digits = value.toString(16).toUpperCase().padStart(4, "0");
  return `use \\u${digits} for the UTF-8 encoding of U+${digits}`;
}

function bad(end: number, problem: string): Escape {
  return { value: -1, isByte: false, end, problem };
}

/**
 * Appends the character at `at` to `bytes` in UTF-8. A lone surrogate becomes U+FFFD.
 *
 * @returns the offset after the character.
 */
export function appendUtf8(bytes: number[], text: string, at: number): number {
  const point = text.codePointAt(at)!;
  if (point < 0x80) {
    bytes.push(point);
  } else if (point < 0x800) {
    bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
  } else if (point >= 0xd800 && point < 0xe000) {
    bytes.push(0xef, 0xbf, 0xbd);
  } else if (point < 0x10000) {
    bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  } else {
    bytes.push(
      0xf0 | (point >> 18),
      0x80 | ((point >> 12) & 63),
      0x80 | ((point >> 6) & 63),
      0x80 | (point & 63),
    );
    return at + 2;
  }
  return at + 1;
}
