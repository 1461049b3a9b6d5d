/**
 * Formats tables with aligned columns that fit the terminal. It cuts the columns
 * that may shrink, the widest first. Without a terminal it cuts nothing. Programs
 * use `--json`.
 */

import { fitText, padText, textWidth } from "./text-width.ts";

/** One column. */
export interface Column {
  readonly title: string;
  /** Whether it may be cut to fit the width. @default false */
  readonly canShrink?: boolean;
  /** Styles a cell without changing its width. @default no style */
  readonly paint?: (cell: string, row: number) => string;
}

/** Space between two columns. */
const gap = "  ";
/** Smallest width of a column that shrinks. */
const narrowest = 10;

/**
 * Returns the lines of a table; titles first.
 *
 * @param options `width`: columns of the terminal; `Infinity` without a terminal.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { readonly width: number; readonly paintTitle?: (title: string) => string },
): string[] {
  const widths = fitWidths(
    columns,
    columns.map(({ title }, at) =>
      Math.max(textWidth(title), ...rows.map((row) => textWidth(row[at] ?? ""))),
    ),
    options.width,
  );
  const line = (cells: readonly string[], paint: (cell: string, at: number) => string) =>
    cells
      .map((cell, at) => {
        const isLast = at === columns.length - 1;
        const fitted = fitText(cell, widths[at] ?? 0);
        return paint(isLast ? fitted : padText(fitted, widths[at] ?? 0), at);
      })
      .join(gap)
      .trimEnd();
  const paintTitle = options.paintTitle ?? ((title) => title);
  return [
    line(
      columns.map(({ title }) => title),
      paintTitle,
    ),
    ...rows.map((row, index) => line(row, (cell, at) => columns[at]?.paint?.(cell, index) ?? cell)),
  ];
}

/** Shrinks the widest shrinkable column until the line fits or no column can shrink. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    for (const [at, column] of columns.entries()) {
      const isCandidate = column.canShrink === true && (widths[at] ?? 0) > narrowest;
      if (isCandidate && (widest === -1 || (widths[at] ?? 0) > (widths[widest] ?? 0))) widest = at;
    }
    if (widest === -1) return widths;
    widths[widest] = Math.max(narrowest, Math.min((widths[widest] ?? 0) - 1, width));
  }
  return widths;
}
