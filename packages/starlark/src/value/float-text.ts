/**
 * Floats as decimal text. `formatFloat` writes the shortest digits that parse to the
 * same float, in the format of go.starlark.net. The other functions round to a number
 * of digits, exactly and with ties to even, as C and Python do. `toFixed` and
 * `toExponential` of JavaScript round ties up and are limited to 100 digits, so they
 * are used only where no tie is possible. Nothing here is charged: the caller limits
 * the digits.
 */

/** All further digits of a double are 0. */
const maxPlaces = 1074;
const maxSignificant = 767;

/** The result of `str(x)`: `1.5`, `100000.0`, `1e+06`, `+inf`, `nan`. */
export function formatFloat(x: number): string {
  if (!Number.isFinite(x)) return formatNonFinite(x);
  const size = Math.abs(x);
  // In this range, JavaScript writes no exponent either.
  if (size >= 1e-4 && size < 1e6) return Number.isInteger(x) ? `${x}.0` : String(x);
  const { negative, digits, exponent } = shortest(x);
  // Go chooses the exponent as if the precision were six digits, regardless of the number of
  // digits.
  const text = exponent < -4 || exponent >= 6 ? scientific(digits, exponent) : positional(digits, exponent);
  return (negative ? "-" : "") + (/[.e]/.test(text) ? text : `${text}.0`);
}

/** `+inf`, `-inf` or `nan`. */
export function formatNonFinite(x: number): string {
  return Number.isNaN(x) ? "nan" : x > 0 ? "+inf" : "-inf";
}

/** Formats a finite `x` with `places` digits after the point: `%.<places>f`. */
export function formatFixed(x: number, places: number): string {
  const sign = isNegative(x) ? "-" : "";
  const size = Math.abs(x);
  if (places <= 100 && size < 1e21 && !isTie(size, places)) return sign + size.toFixed(places);
  const kept = Math.min(places, maxPlaces);
  const digits = scaled(size, kept)
    .toString()
    .padStart(kept + 1, "0");
  const whole = digits.slice(0, digits.length - kept);
  if (places === 0) return sign + whole;
  return `${sign}${whole}.${digits.slice(digits.length - kept)}${"0".repeat(places - kept)}`;
}

/** Formats a finite `x` with one digit before the point and `places` after it: `%.<places>e`. */
export function formatExponent(x: number, places: number): string {
  const { digits, exponent } = significant(Math.abs(x), places + 1);
  return (isNegative(x) ? "-" : "") + scientific(digits, exponent);
}

/** Differences of `formatGeneral` from `%g` of C. */
export interface GeneralFormat {
  /** Keeps trailing zeros and the point: `%#g`. @default false */
  readonly alternate?: boolean;
  /**
   * Uses an exponent one digit sooner, and ends in `.0` if there is no point: the
   * format of Python without a type. @default false
   */
  readonly keepsPoint?: boolean;
}

/** Formats a finite `x` with `precision` significant digits, in the shorter of both forms: `%.<precision>g`. */
export function formatGeneral(x: number, precision: number, format: GeneralFormat = {}): string {
  const count = Math.max(1, precision);
  const { digits, exponent } = significant(Math.abs(x), count);
  const kept = format.alternate === true ? digits : digits.replace(/(?!^)0+$/, "");
  const limit = format.keepsPoint === true ? count - 1 : count;
  const sign = isNegative(x) ? "-" : "";
  if (exponent < -4 || exponent >= limit) {
    const text = scientific(kept, exponent);
    return sign + (format.alternate === true && count === 1 ? text.replace("e", ".e") : text);
  }
  const text = positional(kept, exponent);
  if (text.includes(".")) return sign + text;
  if (format.keepsPoint === true) return `${sign}${text}.0`;
  return sign + text + (format.alternate === true ? "." : "");
}

/**
 * Formats a finite `x` with the shortest digits, and with an exponent only below 1e-4
 * and from 1e16: `repr` of Python.
 */
export function formatShortest(x: number): string {
  const { negative, digits, exponent } = shortest(x);
  const sign = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) return sign + scientific(digits, exponent);
  const text = positional(digits, exponent);
  return sign + (text.includes(".") ? text : `${text}.0`);
}

/** `0.<digits>` times ten to the power of `exponent + 1`. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

function isNegative(x: number): boolean {
  return x < 0 || Object.is(x, -0);
}

function shortest(x: number): Decimal & { readonly negative: boolean } {
  return { ...parseExponential(Math.abs(x).toExponential()), negative: isNegative(x) };
}

function parseExponential(text: string): Decimal {
  const mark = text.indexOf("e");
  return { digits: text.slice(0, mark).replace(".", ""), exponent: Number(text.slice(mark + 1)) };
}

function scientific(digits: string, exponent: number): string {
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Whether `size` lies exactly between two decimals of `places` places, which requires
 * an odd multiple of a power of 1/2.
 */
function isTie(size: number, places: number): boolean {
  const halves = size * 2 ** (places + 1);
  return halves % 2 === 1;
}

/** Rounds `size` to `count` significant digits and writes all of them. */
function significant(size: number, count: number): Decimal {
  if (size === 0) return { digits: "0".repeat(count), exponent: 0 };
  if (count <= 100) {
    // With one more digit, a tie ends in 5.
    const longer = size.toExponential(count);
    if (longer[longer.indexOf("e") - 1] !== "5") return parseExponential(size.toExponential(count - 1));
  }
  const kept = Math.min(count, maxSignificant);
  const short = parseExponential(size.toExponential());
  // The shortest digits may be a power of ten above `size`, and these may round up to one.
  let exponent = short.digits === "1" ? short.exponent - 1 : short.exponent;
  let whole = scaled(size, kept - 1 - exponent).toString();
  while (whole.length > kept) {
    exponent += 1;
    whole = scaled(size, kept - 1 - exponent).toString();
  }
  return { digits: whole + "0".repeat(count - kept), exponent };
}

/** Rounds `size` times ten to the power of `places` to an integer. */
function scaled(size: number, places: number): bigint {
  const [mantissa, power] = decompose(size);
  let numerator = mantissa;
  let denominator = 1n;
  if (places >= 0) numerator *= 10n ** BigInt(places);
  else denominator *= 10n ** BigInt(-places);
  if (power >= 0) numerator <<= BigInt(power);
  else denominator <<= BigInt(-power);
  const quotient = numerator / denominator;
  const twiceRest = (numerator % denominator) * 2n;
  const up = twiceRest > denominator || (twiceRest === denominator && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

/** Splits a finite, positive double into `mantissa * 2 ** power`. */
function decompose(size: number): [mantissa: bigint, power: number] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, size);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  return biased === 0 ? [fraction, -1074] : [fraction | 0x10_0000_0000_0000n, biased - 1075];
}
