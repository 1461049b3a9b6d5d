/**
 * Prints findings with the lines of files that they are about: on a terminal, their sentences are wrapped between words,
 * and their commands work when they are pasted.
 */

import type { CliContext } from "../cli-context.ts";
import { asTyped } from "../serve/source-table.ts";
import { noteWrapped } from "./note-wrapped.ts";

/** A line of a file after its number, and the mark below one. They stay as they are. */
const fileLine = /^ *(?:\d+ \||\^)/;

/** Prints the lines of `formatDiagnostics` or `formatConfigReport`. */
export function printReport(context: CliContext, report: string): void {
  const { output } = context;
  for (const line of report.split("\n")) {
    if (fileLine.test(line)) output.print(line);
    else output.prose(asTyped(line, context));
  }
}

/** Writes the lines of `formatDiagnostics` and an empty line to standard error. */
export function noteReport(context: CliContext, report: string): void {
  const { output } = context;
  for (const line of report.split("\n")) {
    if (fileLine.test(line)) output.note(line);
    else noteWrapped(context, asTyped(line, context));
  }
  output.note("");
}
