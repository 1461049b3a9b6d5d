/** The local time of a time zone: weekdays, minutes of the day, and the bounds of days. Pure. */

/** Milliseconds of a minute, an hour and a day. */
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the runtime knows a time zone, such as `Europe/Berlin`. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return formatOf(timeZone) !== undefined;
  } catch {
    return false;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
    // Only the configuration names time zones, so that their number is that of its rules.
    formats.set(timeZone, format);
  }
  return format;
}

/** Returns the milliseconds by which the local time is ahead of UTC at `at`. */
function offsetAt(at: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  const local = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"));
  return local - Math.floor(at / minuteMs) * minuteMs;
}

/** A local time. */
export interface LocalTime {
  /** 0 is Sunday. */
  readonly weekday: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

/** Returns the local time at `at`, in milliseconds since the epoch. */
export function localTimeAt(at: number, timeZone: string): LocalTime {
  const local = at + offsetAt(at, timeZone);
  return {
    weekday: (Math.floor(local / dayMs) + 4) % 7,
    minute: Math.floor((local % dayMs) / minuteMs),
  };
}

/** A span of time, in milliseconds since the epoch, without its end. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** Returns the UTC hour, or the local day, that contains `at`. */
export function periodAt(at: number, every: "hour" | "day", timeZone: string): Period {
  if (every === "hour") {
    const start = Math.floor(at / hourMs) * hourMs;
    return { start, end: start + hourMs };
  }
  const midnight = Math.floor((at + offsetAt(at, timeZone)) / dayMs) * dayMs;
  const instantOf = (local: number) => local - offsetAt(local - offsetAt(local, timeZone), timeZone);
  // If the clock changes at midnight, the bounds are off by that change, but they still contain `at`.
  return {
    start: Math.min(at, instantOf(midnight)),
    end: Math.max(at + minuteMs, instantOf(midnight + dayMs)),
  };
}
