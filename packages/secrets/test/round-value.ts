/** Returns a value of about 32 KiB whose end repeats its beginning, so that a partial value is detected. */
export function roundValue(name: string, round: number): string {
  const mark = `${name} ${round} `;
  return `${mark}${"x".repeat(32 * 1024)}${mark}`.trim();
}

/** Returns the round of a value. Asserts that the value is complete. */
export function roundOf(name: string, value: string): number | undefined {
  const round = Number(value.split(" ")[1]);
  return value === roundValue(name, round) ? round : undefined;
}
