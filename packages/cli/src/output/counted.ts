/** Counts things in English. Pure. */

/** Returns a number with its noun: "1 tool", "2 tools". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
