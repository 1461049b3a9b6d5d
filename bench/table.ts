/**
 * The result of every benchmark: one table of text cells, printed as Markdown. It
 * never computes; the cells are already rounded.
 */

/** One result table; every row has as many cells as there are columns. */
export interface Table {
  /** Heading above the table, without `#`. */
  readonly title: string;
  /** Column heads; the first column is left-aligned, the others right. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table: the measurement, and missing figures with reasons. */
  readonly notes?: readonly string[];
}

/** The table as GitHub Markdown, padded so that it reads in a terminal too. */
export function toMarkdown(table: Table): string {
  const cells = [table.columns, ...table.rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = table.columns.map((_, column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string => {
    const padded = widths.map((width, column) => {
      const cell = row[column] ?? "";
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  const [head = [], ...body] = cells;
  const parts = [`## ${table.title}`];
  if (body.length > 0) parts.push("", line(head), `| ${rule.join(" | ")} |`, ...body.map(line));
  for (const note of table.notes ?? []) parts.push("", note);
  return `${parts.join("\n")}\n`;
}
