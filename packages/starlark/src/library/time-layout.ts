/**
 * Layouts of the `time` package of Go: the reference time `Mon Jan 2 15:04:05 MST
 * 2006` in the desired format. `2006` stands for the year, `Jan` for the month, and
 * so on; other text is literal.
 */

import { type CivilTime, dayNames, monthNames } from "./time-calendar.ts";

/** RFC 3339, such as `2009-06-12T12:06:10Z`. */
export const rfc3339Layout = "2006-01-02T15:04:05Z07:00";

/** An element of a layout. */
export interface LayoutPart {
  readonly kind: "text" | "element";
  readonly text: string;
}

// The order of alternatives matters: the longest element matches first.
const elements = new RegExp(
  [
    "January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST",
    "002|0[1-6]|15|1|2006|__2|_2(?!006)|2|3|4|5|PM|pm",
    "[-Z]07:00:00|[-Z]070000|[-Z]07:00|[-Z]0700|[-Z]07",
    "[.,]0+(?![0-9])|[.,]9+(?![0-9])",
  ].join("|"),
  "g",
);

/** Maximum length of a layout. @limit program */
export const maxLayoutLength = 1000;

/** Splits `layout` into its elements. */
export function parseLayout(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = [];
  let end = 0;
  for (const match of layout.matchAll(elements)) {
    if (match.index > end) parts.push({ kind: "text", text: layout.slice(end, match.index) });
    parts.push({ kind: "element", text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < layout.length) parts.push({ kind: "text", text: layout.slice(end) });
  return parts;
}

/** The fields of a time that a layout can show. */
export interface ShownTime {
  readonly civil: CivilTime;
  readonly nanosecond: number;
  /** Seconds east of UTC. */
  readonly offset: number;
  /** The abbreviation of the zone, such as EST; empty if there is none. */
  readonly abbreviation: string;
}

/** Formats `time` by `layout`. */
export function formatTime(time: ShownTime, layout: string): string {
  let text = "";
  for (const part of parseLayout(layout)) {
    text += part.kind === "text" ? part.text : formatElement(part.text, time);
  }
  return text;
}

function formatElement(element: string, { civil, nanosecond, offset, abbreviation }: ShownTime): string {
  switch (element) {
    case "January":
      return monthNames[civil.month - 1]!;
    case "Jan":
      return monthNames[civil.month - 1]!.slice(0, 3);
    case "Monday":
      return dayNames[civil.weekday]!;
    case "Mon":
      return dayNames[civil.weekday]!.slice(0, 3);
    case "MST":
      return abbreviation === "" ? formatOffset("-0700", offset) : abbreviation;
    case "2006":
      return padded(civil.year, 4);
    case "06":
      return padded(Math.abs(civil.year) % 100, 2);
    case "01":
      return padded(civil.month, 2);
    case "1":
      return String(civil.month);
    case "02":
      return padded(civil.day, 2);
    case "_2":
      return String(civil.day).padStart(2);
    case "2":
      return String(civil.day);
    case "002":
      return padded(civil.yearDay, 3);
    case "__2":
      return String(civil.yearDay).padStart(3);
    case "15":
      return padded(civil.hour, 2);
    case "03":
      return padded(civil.hour % 12 || 12, 2);
    case "3":
      return String(civil.hour % 12 || 12);
    case "04":
      return padded(civil.minute, 2);
    case "4":
      return String(civil.minute);
    case "05":
      return padded(civil.second, 2);
    case "5":
      return String(civil.second);
    case "PM":
      return civil.hour >= 12 ? "PM" : "AM";
    case "pm":
      return civil.hour >= 12 ? "pm" : "am";
    default:
      return element[0] === "." || element[0] === ","
        ? formatFraction(element, nanosecond)
        : formatOffset(element, offset);
  }
}

function padded(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width, "0")}` : String(value).padStart(width, "0");
}

/** `.000` has a fixed number of digits; `.999` drops trailing zeros. */
function formatFraction(element: string, nanosecond: number): string {
  const digits = padded(nanosecond, 9)
    .padEnd(element.length - 1, "0")
    .slice(0, element.length - 1);
  if (element[1] === "0") return element[0]! + digits;
  const trimmed = digits.replace(/0+$/, "");
  return trimmed === "" ? "" : element[0]! + trimmed;
}

/** Formats offsets such as `-0700` and `Z07:00`. */
function formatOffset(element: string, offset: number): string {
  if (element[0] === "Z" && offset === 0) return "Z";
  const magnitude = Math.abs(offset);
  const parts = [Math.floor(magnitude / 3600), Math.floor(magnitude / 60) % 60, magnitude % 60];
  const shape = element.slice(1).replace(/\d\d/g, () => padded(parts.shift()!, 2));
  return (offset < 0 ? "-" : "+") + shape;
}
