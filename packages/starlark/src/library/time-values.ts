/**
 * The values of the module `time`: moments (`time.time`) and durations
 * (`time.duration`). Both are immutable, with nanosecond precision. Times are equal
 * if they are the same moment, in any zone.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { isInt, makeFloat, normalise } from "../value/number.ts";
import { HostObject, StarlarkFloat, type Value } from "../value/value.ts";
import { wantString } from "./arguments.ts";
import { BoundMethod, type Builtin, builtin } from "./builtin.ts";
import { type CivilTime, toCivil } from "./time-calendar.ts";
import { formatDuration, nanosecondsPerSecond } from "./time-duration.ts";
import { formatTime, maxLayoutLength } from "./time-layout.ts";
import { findZone, type Zone } from "./time-zone.ts";

/** Durations are limited to 64 bits, as in Go: about 292 years. */
const maxDuration = 2n ** 63n - 1n;

/** The first and last second of a JavaScript date, about 275,000 years from 1970. */
const maxSeconds = 8_640_000_000_000;

/** Steps to convert a moment to local time. */
const zoneSteps = 20;

/** A duration. */
export class DurationValue extends HostObject {
  get type(): "time.duration" {
    return "time.duration";
  }
  readonly nanoseconds: bigint;

  /** @throws {StarlarkError} if it exceeds 64 bits. */
  constructor(nanoseconds: bigint) {
    super();
    if (nanoseconds > maxDuration || nanoseconds < -maxDuration - 1n) {
      throw new StarlarkError("duration out of range: at most about 292 years can be kept");
    }
    this.nanoseconds = nanoseconds;
  }

  override truth(): boolean {
    return this.nanoseconds !== 0n;
  }

  override hashKey(): string {
    // The NUL at the start avoids collisions with the keys of strings.
    return `\0time.duration:${this.nanoseconds}`;
  }

  override compare(other: Value): number | undefined {
    if (!(other instanceof DurationValue)) return undefined;
    return order(this.nanoseconds, other.nanoseconds);
  }

  override attribute(name: string, thread: Thread): Value | undefined {
    switch (name) {
      case "hours":
        return makeFloat(inUnits(this.nanoseconds, 3600n * nanosecondsPerSecond), thread);
      case "minutes":
        return makeFloat(inUnits(this.nanoseconds, 60n * nanosecondsPerSecond), thread);
      case "seconds":
        return makeFloat(inUnits(this.nanoseconds, nanosecondsPerSecond), thread);
      case "milliseconds":
        return normalise(this.nanoseconds / 1_000_000n);
      case "microseconds":
        return normalise(this.nanoseconds / 1_000n);
      case "nanoseconds":
        return normalise(this.nanoseconds);
      default:
        return undefined;
    }
  }

  override attributeNames(): readonly string[] {
    return ["hours", "microseconds", "milliseconds", "minutes", "nanoseconds", "seconds"];
  }

  override binary(operator: string, other: Value, side: "left" | "right", thread: Thread): Value | undefined {
    if (operator === "+" && other instanceof DurationValue) {
      return makeDuration(this.nanoseconds + other.nanoseconds, thread);
    }
    if (operator === "-" && other instanceof DurationValue) {
      return makeDuration(this.nanoseconds - other.nanoseconds, thread);
    }
    if (operator === "*" && isInt(other)) return makeDuration(this.nanoseconds * BigInt(other), thread);
    if (operator === "/") return this.#divide(other, side, thread);
    if (operator === "//" && other instanceof DurationValue) {
      if (other.nanoseconds === 0n) throw divisionByZero();
      return normalise(this.nanoseconds / other.nanoseconds);
    }
    return undefined;
  }

  #divide(other: Value, side: "left" | "right", thread: Thread): Value | undefined {
    if (other instanceof DurationValue) {
      if (other.nanoseconds === 0n) throw divisionByZero();
      return makeFloat(Number(this.nanoseconds) / Number(other.nanoseconds), thread);
    }
    const isFloat = other instanceof StarlarkFloat;
    if (!isFloat && !isInt(other)) return undefined;
    if (side === "right")
      throw new StarlarkError("unsupported operation: a number divided by a time.duration");
    if (isFloat) {
      if (other.value === 0) throw divisionByZero();
      const quotient = Number(this.nanoseconds) / other.value;
      if (!Number.isFinite(quotient)) throw new StarlarkError("duration out of range");
      return makeDuration(BigInt(Math.trunc(quotient)), thread);
    }
    if (other === 0) throw divisionByZero();
    return makeDuration(this.nanoseconds / BigInt(other), thread);
  }

  override repr(): string {
    return formatDuration(this.nanoseconds);
  }
}

/** Creates a duration and charges it. */
export function makeDuration(nanoseconds: bigint, thread: Thread): DurationValue {
  thread.charge(64);
  return new DurationValue(nanoseconds);
}

function divisionByZero(): StarlarkError {
  return new StarlarkError("time.duration division by zero");
}

/** The number of units as a float; the fraction is added separately to preserve precision. */
function inUnits(nanoseconds: bigint, unit: bigint): number {
  return Number(nanoseconds / unit) + Number(nanoseconds % unit) / Number(unit);
}

function order<T extends bigint | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A moment, with a zone. */
export class TimeValue extends HostObject {
  get type(): "time.time" {
    return "time.time";
  }
  /** Seconds since 1970. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanosecond: number;
  readonly zone: Zone;
  /** The local date and time, cached. */
  #clock: { readonly civil: CivilTime; readonly offset: number } | undefined = undefined;

  /** @throws {StarlarkError} if it is more than 275,000 years from 1970. */
  constructor(seconds: number, nanosecond: number, zone: Zone) {
    super();
    if (!(Math.abs(seconds) <= maxSeconds)) throw new StarlarkError("time out of range");
    this.seconds = seconds;
    this.nanosecond = nanosecond;
    this.zone = zone;
  }

  /** False for the first moment of the year 1, the zero time of Go. */
  override truth(): boolean {
    return this.seconds !== -62_135_596_800 || this.nanosecond !== 0;
  }

  override hashKey(): string {
    return `\0time.time:${this.seconds}.${this.nanosecond}`;
  }

  override compare(other: Value): number | undefined {
    if (!(other instanceof TimeValue)) return undefined;
    return order(this.seconds, other.seconds) || order(this.nanosecond, other.nanosecond);
  }

  /** Nanoseconds since 1970. */
  get unixNanoseconds(): bigint {
    return BigInt(this.seconds) * nanosecondsPerSecond + BigInt(this.nanosecond);
  }

  #read(): { readonly civil: CivilTime; readonly offset: number } {
    if (this.#clock === undefined) {
      const offset = this.zone.offsetAt(this.seconds);
      this.#clock = { civil: toCivil(this.seconds + offset), offset };
    }
    return this.#clock;
  }

  /** Formats the time by a layout of Go. */
  format(layout: string): string {
    const { civil, offset } = this.#read();
    const { nanosecond } = this;
    return formatTime(
      { civil, nanosecond, offset, abbreviation: this.zone.abbreviationAt(this.seconds) },
      layout,
    );
  }

  override attribute(name: string, thread: Thread): Value | undefined {
    switch (name) {
      case "unix":
        return this.seconds;
      case "unix_nano":
        return normalise(this.unixNanoseconds);
      case "nanosecond":
        return this.nanosecond;
      case "year":
      case "month":
      case "day":
      case "hour":
      case "minute":
      case "second":
        thread.step(zoneSteps);
        return this.#read().civil[name];
      default: {
        const method = timeMethods.find((each) => each.name === name);
        return method === undefined ? undefined : new BoundMethod(this, method);
      }
    }
  }

  override attributeNames(): readonly string[] {
    return attributeNames;
  }

  override binary(operator: string, other: Value, side: "left" | "right", thread: Thread): Value | undefined {
    if (other instanceof DurationValue && (operator === "+" || (operator === "-" && side === "left"))) {
      const change = operator === "+" ? other.nanoseconds : -other.nanoseconds;
      return makeTime(this.unixNanoseconds + change, this.zone, thread);
    }
    if (other instanceof TimeValue && operator === "-" && side === "left") {
      return makeDuration(this.unixNanoseconds - other.unixNanoseconds, thread);
    }
    return undefined;
  }

  override repr(): string {
    return this.format("2006-01-02 15:04:05.999999999 -0700 MST");
  }
}

/** Creates the moment at `unixNanoseconds` and charges it. */
export function makeTime(unixNanoseconds: bigint, zone: Zone, thread: Thread): TimeValue {
  thread.charge(64);
  let seconds = unixNanoseconds / nanosecondsPerSecond;
  let nanosecond = unixNanoseconds % nanosecondsPerSecond;
  if (nanosecond < 0n) {
    seconds -= 1n;
    nanosecond += nanosecondsPerSecond;
  }
  return new TimeValue(Number(seconds), Number(nanosecond), zone);
}

/** The zone with the name that a program gave. */
export function wantZone(builtinName: string, name: string, thread: Thread): Zone {
  thread.step(zoneSteps);
  const zone = findZone(name);
  if (zone === undefined) {
    throw new StarlarkError(`${builtinName}: unknown time zone ${name.slice(0, 100).toWellFormed()}`, {
      hint: 'zones have the names of the tz database, such as "Europe/Berlin" or "America/New_York"',
    });
  }
  return zone;
}

/** Checks the length of a layout. */
export function wantLayout(
  builtinName: string,
  parameter: string | number,
  value: Value,
  thread: Thread,
): string {
  const layout = wantString(builtinName, parameter, value);
  if (layout.length > maxLayoutLength) {
    throw new StarlarkError(
      `${builtinName}: layout of ${layout.length} characters: the limit is ${maxLayoutLength}`,
    );
  }
  thread.step(zoneSteps + layout.length);
  return layout;
}

/** The methods of times. */
export const timeMethods: readonly Builtin[] = [
  builtin(
    "format(layout, /)",
    'Formats the time by `layout`, which shows the desired format for the reference time Mon Jan 2 15:04:05 MST 2006. `time.from_timestamp(0).format("Mon 2 Jan 2006 15:04")` gives `"Thu 1 Jan 1970 00:00"`',
    (thread, self, layout) => {
      const text = (self as TimeValue).format(wantLayout("format", 1, layout!, thread));
      thread.charge(24 + text.length);
      return text;
    },
  ),
  builtin(
    "in_location(name, /)",
    'The same moment in another time zone, given by its name in the tz database. `time.from_timestamp(0).in_location("Asia/Tokyo").hour` gives `9`',
    (thread, self, name) => {
      const zone = wantZone("in_location", wantString("in_location", 1, name!), thread);
      const time = self as TimeValue;
      thread.charge(64);
      return new TimeValue(time.seconds, time.nanosecond, zone);
    },
  ),
];

const attributeNames: readonly string[] = [
  ...timeMethods.map((method) => method.name),
  ...["year", "month", "day", "hour", "minute", "second", "nanosecond", "unix", "unix_nano"],
].sort();
