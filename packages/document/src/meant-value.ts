/** Interprets numbers and flags in other notations, for hints. Pure. */

const sizeUnits: { readonly [unit: string]: number } = {
  "": 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
};

const secondsOf: { readonly [unit: string]: number } = { s: 1, sec: 1, min: 60, h: 3600 };

/**
 * Returns the number that a text such as `30`, `4MB` or `30s` stands for.
 *
 * @param perSecond number of units in one second.
 */
export function meantNumber(text: string, perSecond: number): number | undefined {
  const [, digits, written = ""] = /^\s*([0-9]{1,12})\s*([A-Za-z]{0,3})\s*$/.exec(text) ?? [];
  const unit = written.toLowerCase();
  if (digits === undefined) return undefined;
  if (unit === "ms") return perSecond === 1000 ? Number(digits) : undefined;
  const seconds = Object.hasOwn(secondsOf, unit) ? secondsOf[unit] : undefined;
  if (seconds !== undefined) return Number(digits) * seconds * perSecond;
  const factor = Object.hasOwn(sizeUnits, unit) ? sizeUnits[unit] : undefined;
  return factor === undefined ? undefined : Number(digits) * factor;
}

const flags: { readonly [text: string]: boolean } = {
  y: true,
  yes: true,
  on: true,
  true: true,
  "1": true,
  n: false,
  no: false,
  off: false,
  false: false,
  "0": false,
};

/** Returns the flag that a text such as `yes` stands for. */
export function meantFlag(text: string): boolean | undefined {
  const written = text.toLowerCase();
  return Object.hasOwn(flags, written) ? flags[written] : undefined;
}
