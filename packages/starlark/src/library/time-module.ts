/**
 * The module `time` of go.starlark.net. It reads no clock: `time.now` asks the host,
 * and fails if the host provides no time. The default zone is UTC.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { StarlarkModule, type Value } from "../value/value.ts";
import { takeNamed, wantInt, wantSafeInt, wantString, wrongType } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { prefixError } from "./prefix-error.ts";
import { daysSinceEpoch, secondsPerDay } from "./time-calendar.ts";
import { nanosecondsPerSecond, parseDuration } from "./time-duration.ts";
import { rfc3339Layout } from "./time-layout.ts";
import { parseTime, TimeParseError } from "./time-parse.ts";
import { DurationValue, makeDuration, makeTime, TimeValue, wantLayout, wantZone } from "./time-values.ts";
import { findZone, fromWallClock, utc } from "./time-zone.ts";

/** Years, months and days above this are out of range in any case. */
const maxCalendarArgument = 1_000_000_000;

/** Maximum length of a time that is parsed. */
const maxTimeLength = 1000;

const functions: readonly Builtin[] = [
  builtin(
    "from_timestamp(sec, nsec?, /)",
    "The moment `sec` seconds and `nsec` nanoseconds after 1 January 1970, in UTC. `time.from_timestamp(1593193116).year` gives `2020`",
    (thread, _self, sec, nsec) => {
      const seconds = BigInt(wantInt("from_timestamp", 1, sec!));
      const nanoseconds = nsec === undefined ? 0n : BigInt(wantInt("from_timestamp", 2, nsec));
      return named("from_timestamp", () =>
        makeTime(seconds * nanosecondsPerSecond + nanoseconds, utc, thread),
      );
    },
  ),
  builtin(
    "is_valid_timezone(name, /)",
    'Whether `name` is the name of a time zone. `time.is_valid_timezone("Europe/Berlin")` gives `True`',
    (thread, _self, name) => {
      thread.step(20);
      return findZone(wantString("is_valid_timezone", 1, name!)) !== undefined;
    },
  ),
  builtin(
    "now()",
    'The current time in UTC, which the host provides; an error if it does not. `type(time.now())` gives `"time.time"`',
    (thread) => {
      const { nowNs } = thread.options;
      if (nowNs === undefined) throw new StarlarkError("now: time.now() is not available");
      return makeTime(nowNs(), utc, thread);
    },
  ),
  builtin(
    "parse_duration(d, /)",
    'Parses a duration such as `"1h15m30.5s"`: numbers with the units `h`, `m`, `s`, `ms`, `us` and `ns`. `time.parse_duration("1h30m").minutes` gives `90.0`',
    (thread, _self, d) => {
      if (d instanceof DurationValue) return d;
      if (typeof d !== "string") throw wrongType("parse_duration", 1, d!, "a duration or string");
      thread.step(1 + (d.length >> 4));
      const parsed = parseDuration(d);
      if (parsed.kind === "invalid") {
        throw new StarlarkError(`parse_duration: for parameter 1: ${parsed.reason}`, {
          hint: 'write it as numbers with units, such as "90s", "1h30m" or "250ms"',
        });
      }
      return named("parse_duration", () => makeDuration(parsed.nanoseconds, thread));
    },
  ),
  builtin(
    "parse_time(x, format?, location?)",
    'Parses the time `x` by a Go layout (RFC 3339 by default). If the text has no zone, the zone is `location` (UTC by default). `time.parse_time("2020-06-26T17:38:36Z").unix` gives `1593193116`',
    (thread, _self, x, format, location) => {
      const name = "parse_time";
      const text = wantString(name, "x", x!);
      const layout = format === undefined ? rfc3339Layout : wantLayout(name, "format", format, thread);
      const zone =
        location === undefined ? utc : wantZone(name, wantString(name, "location", location), thread);
      if (text.length > maxTimeLength) {
        throw new StarlarkError(
          `parse_time: text of ${text.length} characters: the limit is ${maxTimeLength}`,
        );
      }
      thread.step(40 + text.length);
      thread.charge(64);
      return named(name, () => {
        const parsed = parseTime(text, layout, zone);
        return new TimeValue(parsed.seconds, parsed.nanosecond, parsed.zone);
      });
    },
  ),
  builtin(
    "time(*, year?, month?, day?, hour?, minute?, second?, nanosecond?, location?)",
    "The time with these fields in the zone `location` (UTC by default). Fields beyond their range carry over. Absent fields are 0, so pass `year`, `month` and `day` together. `time.time(year=2024, month=2, day=29).unix` gives `1709164800`",
    (thread, _self, args, given) => {
      if (args.length > 0) throw new StarlarkError("time: unexpected positional arguments");
      return named("time", () => timeOf(takeNamed("time", given, timeParts), thread));
    },
  ),
];

const timeParts = ["year", "month", "day", "hour", "minute", "second", "nanosecond", "location"] as const;

/** Converts the values of `timeParts`, in order, to a time. */
function timeOf(values: readonly (Value | undefined)[], thread: Thread): TimeValue {
  const calendar = (index: number): number => {
    const value = values[index];
    if (value === undefined) return 0;
    const int = wantSafeInt("time", timeParts[index]!, value);
    if (Math.abs(int) > maxCalendarArgument) throw new StarlarkError(`${timeParts[index]} out of range`);
    return int;
  };
  const clock = (index: number): bigint => {
    const value = values[index];
    return value === undefined ? 0n : BigInt(wantInt("time", timeParts[index]!, value));
  };
  const location = values[7];
  const zone =
    location === undefined ? utc : wantZone("time", wantString("time", "location", location), thread);
  const days = daysSinceEpoch(calendar(0), calendar(1), calendar(2));
  const wallSeconds = BigInt(days) * BigInt(secondsPerDay) + clock(3) * 3600n + clock(4) * 60n + clock(5);
  // Interpret the fields as UTC first, which also checks their range; then find the moment at which
  // the zone shows the same fields.
  const wall = makeTime(wallSeconds * nanosecondsPerSecond + clock(6), utc, thread);
  return new TimeValue(fromWallClock(wall.seconds, zone), wall.nanosecond, zone);
}

/** Returns the result of `make`; adds the name to errors. */
function named<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TimeParseError) throw new StarlarkError(`${name}: ${error.message}`);
    const already = error instanceof StarlarkError && error.message.startsWith(`${name}: `);
    throw already ? error : prefixError(name, error);
  }
}

/** The module `time`. */
export const timeModule = new StarlarkModule(
  "time",
  new Map<string, Value>([
    ...functions.map((each): [string, Value] => [each.name, each]),
    ["nanosecond", new DurationValue(1n)],
    ["microsecond", new DurationValue(1_000n)],
    ["millisecond", new DurationValue(1_000_000n)],
    ["second", new DurationValue(nanosecondsPerSecond)],
    ["minute", new DurationValue(60n * nanosecondsPerSecond)],
    ["hour", new DurationValue(3600n * nanosecondsPerSecond)],
  ]),
);
