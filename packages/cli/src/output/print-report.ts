/** Prints findings with the lines of files that they are about: on a terminal, their sentences are wrapped between words. */

import type { Output } from "./output.ts";

/** A line of a file after its number, and the mark below one. */
const fileLine = /^ *(?:\d+ \||\^)/;

/** Prints the lines of `formatDiagnostics` or `formatConfigReport`. The lines of a file stay as they are: a mark is below them. */
export function printReport(output: Pick<Output, "print" | "prose">, report: string): void {
  for (const line of report.split("\n")) {
    if (fileLine.test(line)) output.print(line);
    else output.prose(line);
  }
}
