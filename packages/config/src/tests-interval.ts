/** The interval of `tests.every`. Pure. */

import { type DocumentNode, invalid, type Place } from "@toolcrib/document";

const unitsMs: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A month: timers of Node have less. */
const maxMs = 24 * 86_400_000;

/** Returns the milliseconds of a text such as `6h`; undefined where there is none. */
export function everyMsOf(text: string | undefined): number | undefined {
  const [, count, unit = ""] = /^([0-9]+) ?([mhd])$/.exec(text ?? "") ?? [];
  return count === undefined ? undefined : Number(count) * (unitsMs[unit] ?? 0);
}

/** Reports an interval that is too short or too long. */
export function invalidEvery(value: string, node: DocumentNode, place: Place): void {
  const ms = everyMsOf(value);
  if (ms === undefined || (ms >= 60_000 && ms <= maxMs)) return;
  invalid(node, place, `"${place.path}" is less than a minute or more than 24 days`, "write 1m to 24d");
}
