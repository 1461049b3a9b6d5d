/**
 * What stands after the `:` of an f-string's field, such as `>10` or `,.2f`:
 * `[[fill]align][sign][0][width][,][.precision][type]`, a part of Python's
 * format specifications.
 */

/** A format specification in parts. */
export interface FormatSpec {
  /** One character. @default " " */
  readonly fill: string;
  /** `<` left, `>` right, `^` centre, `=` padding after the sign; absent means by type of value. */
  readonly align?: "<" | ">" | "^" | "=";
  readonly sign?: "+" | "-" | " ";
  readonly width?: number;
  /** Thousands are separated by commas. */
  readonly grouped: boolean;
  readonly precision?: number;
  readonly type?: FormatType;
}

/** How the value is shown. */
export type FormatType = "d" | "s" | "f" | "e" | "g" | "x" | "X" | "o" | "b" | "%";

/** Digits of a width or a precision. */
const maxDigits = 4;

const form = new RegExp(
  `^(?:(.)?([<>=^]))?([-+ ])?(0)?(\\d{1,${maxDigits}})?(,)?(?:\\.(\\d{1,${maxDigits}}))?([dsfegxXob%])?$`,
  "su",
);

/** The parts of `text`; `undefined` if it is no format specification. */
export function parseFormatSpec(text: string): FormatSpec | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [, fill, align, sign, zero, width, comma, precision, type] = parts;
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: (align ?? (zero === undefined ? undefined : "=")) as FormatSpec["align"],
    sign: sign as FormatSpec["sign"],
    width: width === undefined ? undefined : Number(width),
    grouped: comma !== undefined,
    precision: precision === undefined ? undefined : Number(precision),
    type: type as FormatType | undefined,
  };
}
