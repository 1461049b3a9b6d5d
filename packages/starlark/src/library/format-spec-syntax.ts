/**
 * The syntax of format specifications, as in `format` of Python:
 * `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`. Parsing does not
 * depend on values, so a specification can be checked before the program runs.
 */

/** Maximum width, and maximum number of digits of a precision. @limit program */
export const maxFormatSize = 10_000;

/** A format specification. */
export interface FormatSpec {
  /** A single code point. */
  readonly fill: string | undefined;
  readonly align: "<" | ">" | "^" | "=" | undefined;
  readonly sign: "+" | "-" | " " | undefined;
  /** Whether minus zero is written as zero. */
  readonly coerceZero: boolean;
  readonly alternate: boolean;
  /** Whether a zero precedes the width. */
  readonly zero: boolean;
  readonly width: number;
  readonly grouping: "," | "_" | undefined;
  readonly precision: number | undefined;
  /** The letter at the end, if any. */
  readonly type: string;
}

/** The reason why a text is no format specification. */
export interface FormatSpecProblem {
  readonly problem: string;
  readonly hint: string;
}

const grammar =
  /^(?:(?<fill>.)?(?<align>[<>=^]))?(?<sign>[-+ ])?(?<z>z)?(?<alternate>#)?(?<zero>0)?(?<width>[0-9]+)?(?<grouping>[,_])?(?:\.(?<precision>[0-9]+))?(?<type>[a-zA-Z%])?$/su;

const types = "bcdeEfFgGosxX%";

/** Parses a format specification. */
export function parseFormatSpec(text: string): FormatSpec | FormatSpecProblem {
  const groups = text.length > 100 ? undefined : grammar.exec(text)?.groups;
  if (groups === undefined) return unreadable(text);
  const { type = "" } = groups;
  if (!types.includes(type)) {
    return { problem: `unknown format code ${type}`, hint: unknownTypeHint(type) };
  }
  const width = Number(groups["width"] ?? 0);
  const precision = groups["precision"] === undefined ? undefined : Number(groups["precision"]);
  if (width > maxFormatSize || (precision ?? 0) > maxFormatSize) {
    return { problem: "width or precision too large", hint: `the most is ${maxFormatSize}` };
  }
  const grouping = groups["grouping"] as FormatSpec["grouping"];
  if (grouping !== undefined && (type === "c" || type === "s" || (grouping === "," && /[boxX]/.test(type)))) {
    return { problem: `cannot group digits by ${grouping} with ${type}`, hint: groupingHint(type) };
  }
  return {
    fill: groups["fill"],
    align: groups["align"] as FormatSpec["align"],
    sign: groups["sign"] as FormatSpec["sign"],
    coerceZero: groups["z"] !== undefined,
    alternate: groups["alternate"] !== undefined,
    zero: groups["zero"] !== undefined,
    width,
    grouping,
    precision,
    type,
  };
}

/** Whether the result is a specification. */
export function isFormatSpec(read: FormatSpec | FormatSpecProblem): read is FormatSpec {
  return !("problem" in read);
}

const order =
  "a specification is [[fill]align][sign][#][0][width][,][.precision][type], such as >10, 05d, .2f or ,";

function unreadable(text: string): FormatSpecProblem {
  if (/[{}]/.test(text.slice(0, 100))) {
    return {
      problem: "fields within a format specification are not supported",
      hint: "write the width as a number, or use s.rjust(width) and s.ljust(width)",
    };
  }
  if (/\.(?:[^0-9]|$)/.test(text.slice(0, 100))) {
    return {
      problem: "digits are missing after the point",
      hint: "write how many digits there are to be, as in .2f",
    };
  }
  return { problem: "not a format specification", hint: order };
}

function unknownTypeHint(type: string): string {
  if (type === "n") return "use , or _ to group digits";
  if (type === "r") return "write !r before the colon";
  return "valid codes: b c d o x X for ints; e E f F g G % for numbers; s for strings";
}

function groupingHint(type: string): string {
  return /[boxX]/.test(type) ? "use _" : "only numbers have digits to group";
}
