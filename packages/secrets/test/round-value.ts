/** A value of some 32 KiB that is whole or not: its end repeats its beginning. */
export function roundValue(name: string, round: number): string {
  const mark = `${name} ${round} `;
  return `${mark}${"x".repeat(32 * 1024)}${mark}`.trim();
}

/** The round of a value, after a look whether it is whole. */
export function roundOf(name: string, value: string): number | undefined {
  const round = Number(value.split(" ")[1]);
  return value === roundValue(name, round) ? round : undefined;
}
