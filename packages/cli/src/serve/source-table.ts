/**
 * Prints what the gateway serves as a table whose last column is the reason of a state. A reason is a sentence with
 * its fix: where the terminal is too narrow for the column, the reasons follow the table, each as a whole.
 */

import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { type Column, fitsTable } from "../output/table.ts";
import { withHome, withProgram } from "../output/with-home.ts";
import { shortProgram } from "./own-command.ts";

/** Where the table is printed, and how commands are typed there. */
export type SourceContext = Pick<CliContext, "output" | "options" | "env" | "directory">;

/** Prints the table and an empty line. @param rows the first cell is the id, the last one the reason */
export function printSources(
  context: SourceContext,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): void {
  const { output } = context;
  const typed = rows.map((row) => row.with(-1, asTyped(row.at(-1) ?? "", context)));
  const all = [...columns, { title: "REASON" }];
  if (fitsTable(all, typed, output)) {
    output.table(all, typed);
  } else {
    output.table(
      columns,
      typed.map((row) => row.slice(0, -1)),
    );
    for (const row of typed) {
      const [id = "", reason = ""] = [row[0], row.at(-1)];
      if (reason !== "") output.prose(`${output.style("yellow", safeLine(id))}: ${reason}`);
    }
  }
  output.print("");
}

/** Returns `text` with its commands as they work when they are pasted. */
export function asTyped(text: string, context: Pick<CliContext, "options" | "env" | "directory">): string {
  return withProgram(withHome(text, context.options.homeFlag), shortProgram(context));
}
