/**
 * Time zones by their names in the tz database. Offsets come from `Intl`, which
 * includes that database; the zone of the machine is never used.
 */

import { zoneAbbreviations } from "./time-zone-names.ts";

/** The offset of a zone from UTC over time. */
export interface Zone {
  readonly name: string;
  /** Seconds east of UTC at `seconds` since 1970. */
  readonly offsetAt: (seconds: number) => number;
  /** The abbreviation, such as EST; empty for an offset without a name. */
  readonly abbreviationAt: (seconds: number) => string;
}

export const utc: Zone = { name: "UTC", offsetAt: () => 0, abbreviationAt: () => "UTC" };

/** A zone with a fixed offset. */
export function fixedZone(abbreviation: string, offsetSeconds: number): Zone {
  return { name: abbreviation, offsetAt: () => offsetSeconds, abbreviationAt: () => abbreviation };
}

/** Maximum number of cached zones. */
const maxKnown = 64;
/** Cached zones, most recently used last: creating one is slow. */
const known = new Map<string, Zone>();

/** The zone with this name; `undefined` if there is none. The empty name is UTC. */
export function findZone(name: string): Zone | undefined {
  if (name === "" || name === "UTC") return utc;
  const ready = known.get(name);
  if (ready !== undefined) return ready;
  const made = makeZone(name);
  if (made === undefined) return undefined;
  if (known.size >= maxKnown) known.delete(known.keys().next().value!);
  known.set(name, made);
  return made;
}

function makeZone(name: string): Zone | undefined {
  // Intl also accepts offsets such as +01:00, which are not zone names.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  const names = zoneAbbreviations(name) ?? zoneAbbreviations(format.resolvedOptions().timeZone);
  const offsetAt = (seconds: number): number => readOffset(format.format(seconds * 1000));
  return {
    name,
    offsetAt,
    abbreviationAt: (seconds) => {
      const offset = offsetAt(seconds);
      return names?.get(offset) ?? shortOffset(offset);
    },
  };
}

/** The offset at the end of a formatted date, such as `GMT-04:56:02` or `GMT`. */
function readOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match?.[1] === undefined) return 0;
  const magnitude = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === "-" ? -magnitude : magnitude;
}

/** `-03` or `+0530`: the name of an offset without an abbreviation, as in the tz database. */
function shortOffset(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const hour = String(Math.floor(minutes / 60)).padStart(2, "0");
  const rest = minutes % 60 === 0 ? "" : String(minutes % 60).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${hour}${rest}`;
}

/**
 * The seconds since 1970 at which local time in `zone` equals UTC at `wallSeconds`. A
 * local time that is skipped is interpreted with the offset before the change; one
 * that is repeated is the first or the second, as in Go.
 */
export function fromWallClock(wallSeconds: number, zone: Zone): number {
  const guess = zone.offsetAt(wallSeconds);
  const offset = guess === 0 ? 0 : zone.offsetAt(wallSeconds - guess);
  return wallSeconds - offset;
}
