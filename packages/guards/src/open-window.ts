/** Windows of time in which calls are allowed. Pure. */

import { localTimeAt, minuteMs } from "./local-time.ts";

/** Hours of some weekdays. */
export interface OpenWindow {
  /** 0 is Sunday. */
  readonly days: readonly number[];
  /** Minutes since midnight. */
  readonly fromMinute: number;
  /** Minutes since midnight, not included; at or before `fromMinute` it is on the next day. */
  readonly toMinute: number;
}

const dayMinutes = 1440;

/** Whether `at` is in one of `windows`. */
export function isOpenAt(windows: readonly OpenWindow[], at: number, timeZone: string): boolean {
  const { weekday, minute } = localTimeAt(at, timeZone);
  return isOpen(windows, weekday, minute);
}

function isOpen(windows: readonly OpenWindow[], weekday: number, minute: number): boolean {
  return windows.some(({ days, fromMinute, toMinute }) => {
    if (fromMinute < toMinute) return days.includes(weekday) && minute >= fromMinute && minute < toMinute;
    const isEvening = days.includes(weekday) && minute >= fromMinute;
    return isEvening || (days.includes((weekday + 6) % 7) && minute < toMinute);
  });
}

/** Returns the next time after `at` at which a window opens; undefined without days. */
export function nextOpening(
  windows: readonly OpenWindow[],
  at: number,
  timeZone: string,
): number | undefined {
  const { weekday, minute } = localTimeAt(at, timeZone);
  const starts = windows.flatMap(({ days, fromMinute }) =>
    days.map((day) => {
      const minutes = ((day - weekday + 7) % 7) * dayMinutes + fromMinute - minute;
      return minutes > 0 ? minutes : minutes + 7 * dayMinutes;
    }),
  );
  if (starts.length === 0) return undefined;
  const opening = Math.floor(at / minuteMs) * minuteMs + Math.min(...starts) * minuteMs;
  // The clock can be changed until then.
  const late = localTimeAt(opening, timeZone);
  const wanted = (minute + Math.min(...starts)) % dayMinutes;
  const shift = ((wanted - late.minute + dayMinutes + dayMinutes / 2) % dayMinutes) - dayMinutes / 2;
  return opening + shift * minuteMs;
}
