/**
 * Durations as text in the format of Go: `1h15m30.918s`. Durations are bigints in
 * nanoseconds.
 */

export const nanosecondsPerSecond = 1_000_000_000n;

const unitNanoseconds: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", nanosecondsPerSecond],
  ["m", 60n * nanosecondsPerSecond],
  ["h", 3600n * nanosecondsPerSecond],
]);

/** Maximum length of the text of a valid duration. @limit program */
const maxLength = 1000;

/** A duration, or the reason why a text is invalid. */
export type ParsedDuration =
  | { readonly kind: "duration"; readonly nanoseconds: bigint }
  | { readonly kind: "invalid"; readonly reason: string };

/** Parses a duration: a sign, then numbers with units; `0` needs none. */
export function parseDuration(text: string): ParsedDuration {
  const invalid = (what: string): ParsedDuration => ({ kind: "invalid", reason: `time: ${what}` });
  const quoted = JSON.stringify(text.slice(0, 100).toWellFormed());
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === "0") return { kind: "duration", nanoseconds: 0n };
  if (unsigned === "" || text.length > maxLength) return invalid(`invalid duration ${quoted}`);
  let total = 0n;
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  while (part.lastIndex < unsigned.length) {
    const [, whole = "", fraction = "", unit = ""] = part.exec(unsigned)!;
    if (whole === "" && fraction === "") return invalid(`invalid duration ${quoted}`);
    if (unit === "") return invalid(`missing unit in duration ${quoted}`);
    const scale = unitNanoseconds.get(unit);
    if (scale === undefined) {
      return invalid(`unknown unit ${JSON.stringify(unit.toWellFormed())} in duration ${quoted}`);
    }
    total += BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return { kind: "duration", nanoseconds: text.startsWith("-") ? -total : total };
}

/** Formats a duration: `2h45m0.5s`; below a second `1.5ms`, `100µs`, `7ns`; `0s` for zero. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude < 1_000n) return `${sign}${magnitude}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 3)}\u00b5s`;
  if (magnitude < nanosecondsPerSecond) return `${sign}${decimal(magnitude, 6)}ms`;
  const minutes = magnitude / (60n * nanosecondsPerSecond);
  const seconds = `${decimal(magnitude % (60n * nanosecondsPerSecond), 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

/** `value` / 10^`places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = (value % scale).toString().padStart(places, "0").replace(/0+$/, "");
  return fraction === "" ? String(value / scale) : `${value / scale}.${fraction}`;
}
