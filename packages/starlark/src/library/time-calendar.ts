/**
 * The proleptic Gregorian calendar: converts days and seconds since 1970 to dates and
 * back. Plain arithmetic, without time zones or clocks.
 */

/** A local date and time. */
export interface CivilTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 for Sunday. */
  readonly weekday: number;
  /** 1 to 366. */
  readonly yearDay: number;
}

export const secondsPerDay = 86_400;

const daysPerEra = 146_097;
/** Days from 1 March of the year 0 to 1 January 1970. */
const daysToEpoch = 719_468;

/** Days from 1 January 1970 to a date; `month` and `day` may be out of range. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const monthIndex = month - 1;
  const wholeYears = year + Math.floor(monthIndex / 12);
  const monthInYear = monthIndex - 12 * Math.floor(monthIndex / 12);
  // Years that start in March have the leap day at their end.
  const marchYear = monthInYear < 2 ? wholeYears - 1 : wholeYears;
  const marchMonth = (monthInYear + 10) % 12;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * daysPerEra + dayOfEra - daysToEpoch + day - 1;
}

/** The date and time at `seconds` since 1970, without a zone offset. */
export function toCivil(seconds: number): CivilTime {
  const days = Math.floor(seconds / secondsPerDay);
  const ofDay = seconds - days * secondsPerDay;
  const shifted = days + daysToEpoch;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return {
    year,
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
    hour: Math.floor(ofDay / 3600),
    minute: Math.floor(ofDay / 60) % 60,
    second: ofDay % 60,
    weekday: (((days + 4) % 7) + 7) % 7,
    yearDay: days - daysSinceEpoch(year, 1, 1) + 1,
  };
}

/** Number of days in a month. */
export function daysInMonth(year: number, month: number): number {
  return daysSinceEpoch(year, month + 1, 1) - daysSinceEpoch(year, month, 1);
}

export const monthNames: readonly string[] = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

export const dayNames: readonly string[] = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
];
