/**
 * Parses times by a layout, like `time.Parse` of Go.
 */

import { dayNames, daysInMonth, daysSinceEpoch, monthNames, secondsPerDay } from "./time-calendar.ts";
import { type LayoutPart, parseLayout } from "./time-layout.ts";
import { fixedZone, fromWallClock, utc, type Zone } from "./time-zone.ts";

/** A moment with its zone. */
export interface ParsedTime {
  /** Seconds since 1970. */
  readonly seconds: number;
  readonly nanosecond: number;
  readonly zone: Zone;
}

/** The error for a text that does not match the layout. */
export class TimeParseError extends Error {}

/** The fields that have been read. Absent fields have the defaults of Go: the first moment of the year 0. */
interface Fields {
  year: number;
  month: number | undefined;
  day: number | undefined;
  yearDay: number | undefined;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  half: "am" | "pm" | undefined;
  /** Seconds east of UTC. */
  offset: number | undefined;
  isUtc: boolean;
  abbreviation: string | undefined;
}

/**
 * Parses `text` by `layout`.
 *
 * @param zone the zone if the text does not specify one.
 * @throws {TimeParseError} if the text does not match, or no such time exists.
 */
export function parseTime(text: string, layout: string, zone: Zone): ParsedTime {
  const reader = new Reader(text, layout);
  return resolve(reader.read(), zone, text);
}

class Reader {
  readonly #text: string;
  readonly #layout: string;
  #at = 0;
  readonly #fields: Fields = {
    year: 0,
    month: undefined,
    day: undefined,
    yearDay: undefined,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    half: undefined,
    offset: undefined,
    isUtc: false,
    abbreviation: undefined,
  };

  constructor(text: string, layout: string) {
    this.#text = text;
    this.#layout = layout;
  }

  read(): Fields {
    const parts = parseLayout(this.#layout);
    for (const [index, part] of parts.entries()) {
      if (part.kind === "text") this.#literal(part.text);
      else this.#element(part.text, parts[index + 1]);
    }
    if (this.#at < this.#text.length) {
      throw new TimeParseError(
        `parsing time ${quoted(this.#text)}: extra text: ${quoted(this.#text.slice(this.#at))}`,
      );
    }
    return this.#fields;
  }

  #mismatch(part: string): TimeParseError {
    const rest = quoted(this.#text.slice(this.#at));
    return new TimeParseError(
      `parsing time ${quoted(this.#text)} as ${quoted(this.#layout)}: cannot parse ${rest} as ${quoted(part)}`,
    );
  }

  /** Reads literal text; a space matches any number of spaces. */
  #literal(expected: string): void {
    for (const part of expected.match(/ +|[^ ]+/g) ?? []) {
      if (part[0] === " ") {
        if (this.#at < this.#text.length && this.#text[this.#at] !== " ") throw this.#mismatch(expected);
        while (this.#text[this.#at] === " ") this.#at += 1;
      } else {
        if (!this.#text.startsWith(part, this.#at)) throw this.#mismatch(expected);
        this.#at += part.length;
      }
    }
  }

  /** Reads the text that `pattern` matches. */
  #take(pattern: RegExp, element: string): RegExpExecArray {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) throw this.#mismatch(element);
    this.#at = pattern.lastIndex;
    return match;
  }

  #number(pattern: RegExp, element: string): number {
    return Number(this.#take(pattern, element)[0]);
  }

  /** Reads a name regardless of case. Returns its index. */
  #name(names: readonly string[], element: string): number {
    const rest = this.#text.slice(this.#at, this.#at + 9).toLowerCase();
    const index = names.findIndex((name) => rest.startsWith(name.toLowerCase()));
    if (index === -1) throw this.#mismatch(element);
    this.#at += names[index]!.length;
    return index;
  }

  #element(element: string, following: LayoutPart | undefined): void {
    const fields = this.#fields;
    switch (element) {
      case "2006":
        fields.year = this.#number(fourDigits, element);
        return;
      case "06": {
        const year = this.#number(twoDigits, element);
        fields.year = year + (year >= 69 ? 1900 : 2000);
        return;
      }
      case "January":
        fields.month = this.#name(monthNames, element) + 1;
        return;
      case "Jan":
        fields.month = this.#name(shortMonthNames, element) + 1;
        return;
      case "01":
      case "1":
        fields.month = this.#within(
          1,
          12,
          "month",
          this.#number(element === "01" ? twoDigits : upToTwoDigits, element),
        );
        return;
      case "Monday":
        this.#name(dayNames, element);
        return;
      case "Mon":
        this.#name(shortDayNames, element);
        return;
      case "_2":
      case "2":
      case "02":
        if (element === "_2" && this.#text[this.#at] === " ") this.#at += 1;
        fields.day = this.#number(element === "02" ? twoDigits : upToTwoDigits, element);
        return;
      case "__2":
        fields.yearDay = Number(this.#take(/ {0,2}\d{1,3}/y, element)[0].trim());
        return;
      case "002":
        fields.yearDay = this.#number(threeDigits, element);
        return;
      case "MST":
        this.#abbreviation(element);
        return;
      default:
        this.#timeElement(element, following);
    }
  }

  #timeElement(element: string, following: LayoutPart | undefined): void {
    const fields = this.#fields;
    switch (element) {
      case "15":
        fields.hour = this.#within(0, 23, "hour", this.#number(upToTwoDigits, element));
        return;
      case "3":
      case "03":
        fields.hour = this.#within(
          0,
          12,
          "hour",
          this.#number(element === "03" ? twoDigits : upToTwoDigits, element),
        );
        return;
      case "4":
      case "04":
        fields.minute = this.#within(
          0,
          59,
          "minute",
          this.#number(element === "04" ? twoDigits : upToTwoDigits, element),
        );
        return;
      case "5":
      case "05":
        fields.second = this.#within(
          0,
          59,
          "second",
          this.#number(element === "05" ? twoDigits : upToTwoDigits, element),
        );
        // A fraction may follow even if the layout has none.
        if (!/^[.,][09]/.test(following?.text ?? "")) this.#optionalFraction();
        return;
      case "PM":
        fields.half = this.#take(/AM|PM/y, element)[0].toLowerCase() as "am" | "pm";
        return;
      case "pm":
        fields.half = this.#take(/am|pm/y, element)[0] as "am" | "pm";
        return;
      default:
        if (element[0] === "." || element[0] === ",") this.#fraction(element);
        else this.#offset(element);
    }
  }

  #within(least: number, most: number, what: string, value: number): number {
    if (value < least || value > most) throw outOfRange(this.#text, what);
    return value;
  }

  #fraction(element: string): void {
    if (element[1] === "9") {
      this.#optionalFraction();
      return;
    }
    const digits = element.length - 1;
    const match = this.#take(new RegExp(`[.,](\\d{${digits}})`, "y"), element);
    this.#fields.nanosecond = toNanosecond(match[1]!);
  }

  #optionalFraction(): void {
    const pattern = /[.,](\d+)/y;
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return;
    this.#at = pattern.lastIndex;
    this.#fields.nanosecond = toNanosecond(match[1]!);
  }

  #offset(element: string): void {
    if (element[0] === "Z" && this.#text[this.#at] === "Z") {
      this.#at += 1;
      this.#fields.isUtc = true;
      return;
    }
    const [, sign, hour, minute = "0", second = "0"] = this.#take(
      offsetPatterns.get(element.slice(1))!,
      element,
    );
    // 24 and 60 are accepted because they occur in practice.
    this.#within(0, 24, "time zone offset hour", Number(hour));
    this.#within(0, 60, "time zone offset minute", Number(minute));
    this.#within(0, 60, "time zone offset second", Number(second));
    const magnitude = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
    this.#fields.offset = sign === "-" ? -magnitude : magnitude;
  }

  #abbreviation(element: string): void {
    if (this.#text.startsWith("UTC", this.#at)) {
      this.#at += 3;
      this.#fields.isUtc = true;
      return;
    }
    this.#fields.abbreviation = this.#take(abbreviationPattern, element)[0];
  }
}

const upToTwoDigits = /\d{1,2}/y;
const twoDigits = /\d{2}/y;
const threeDigits = /\d{3}/y;
const fourDigits = /\d{4}/y;

const offsetPatterns: ReadonlyMap<string, RegExp> = new Map([
  ["07", /([+-])(\d\d)/y],
  ["0700", /([+-])(\d\d)(\d\d)/y],
  ["07:00", /([+-])(\d\d):(\d\d)/y],
  ["070000", /([+-])(\d\d)(\d\d)(\d\d)/y],
  ["07:00:00", /([+-])(\d\d):(\d\d):(\d\d)/y],
]);

/**
 * GMT with an offset in hours, an offset in hours, a word of three capitals, or a
 * word of four or five that ends in T.
 */
const abbreviationPattern =
  /GMT[+-]\d{1,2}|[+-]\d\d|(?:ChST|MeST|WITA|[A-Z]{4}T|[A-Z]{3}T|[A-Z]{3})(?![A-Z])/y;

const shortMonthNames = monthNames.map((name) => name.slice(0, 3));
const shortDayNames = dayNames.map((name) => name.slice(0, 3));

function toNanosecond(digits: string): number {
  return Number(digits.slice(0, 9).padEnd(9, "0"));
}

function outOfRange(text: string, what: string): TimeParseError {
  return new TimeParseError(`parsing time ${quoted(text)}: ${what} out of range`);
}

function quoted(text: string): string {
  return JSON.stringify((text.length > 100 ? `${text.slice(0, 100)}…` : text).toWellFormed());
}

/** The moment of the fields. */
function resolve(fields: Fields, zone: Zone, text: string): ParsedTime {
  const { month, day } = resolveDay(fields, text);
  let { hour } = fields;
  if (fields.half === "pm" && hour < 12) hour += 12;
  else if (fields.half === "am" && hour === 12) hour = 0;
  const wall =
    daysSinceEpoch(fields.year, month, day) * secondsPerDay +
    hour * 3600 +
    fields.minute * 60 +
    fields.second;
  const { nanosecond } = fields;
  if (fields.isUtc) return { seconds: wall, nanosecond, zone: utc };
  if (fields.offset !== undefined) {
    const seconds = wall - fields.offset;
    const local = zone.offsetAt(seconds) === fields.offset;
    return { seconds, nanosecond, zone: local ? zone : fixedZone(fields.abbreviation ?? "", fields.offset) };
  }
  if (fields.abbreviation !== undefined)
    return resolveAbbreviation(fields.abbreviation, wall, nanosecond, zone);
  return { seconds: fromWallClock(wall, zone), nanosecond, zone };
}

function resolveDay(fields: Fields, text: string): { month: number; day: number } {
  let { month, day } = fields;
  if (fields.yearDay !== undefined) {
    const daysInYear = 337 + daysInMonth(fields.year, 2);
    if (fields.yearDay < 1 || fields.yearDay > daysInYear) throw outOfRange(text, "day-of-year");
    let rest = fields.yearDay;
    let counted = 1;
    while (rest > daysInMonth(fields.year, counted)) {
      rest -= daysInMonth(fields.year, counted);
      counted += 1;
    }
    if ((month !== undefined && month !== counted) || (day !== undefined && day !== rest)) {
      throw new TimeParseError(
        `parsing time ${quoted(text)}: day-of-year does not match the day of the month`,
      );
    }
    month = counted;
    day = rest;
  }
  month ??= 1;
  day ??= 1;
  if (day < 1 || day > daysInMonth(fields.year, month)) throw outOfRange(text, "day");
  return { month, day };
}

/**
 * Finds a zone by its abbreviation: the given zone if it has the abbreviation,
 * otherwise a zone with that name and an unknown offset.
 */
function resolveAbbreviation(abbreviation: string, wall: number, nanosecond: number, zone: Zone): ParsedTime {
  for (const offset of [zone.offsetAt(wall), zone.offsetAt(fromWallClock(wall, zone))]) {
    if (zone.abbreviationAt(wall - offset) === abbreviation)
      return { seconds: wall - offset, nanosecond, zone };
  }
  const hours = /^GMT([+-]\d{1,2})$/.exec(abbreviation)?.[1];
  const offset = hours === undefined ? 0 : Number(hours) * 3600;
  return { seconds: wall - offset, nanosecond, zone: fixedZone(abbreviation, offset) };
}
