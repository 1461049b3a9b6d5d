/**
 * Tables for people: aligned columns that fit the terminal. The columns that
 * may shrink are cut, the widest first; on anything but a terminal nothing is
 * cut. Programs use `--json`.
 */

import { fitText, padText, textWidth } from "./text-width.ts";

/** One column. */
export interface Column {
  readonly title: string;
  /** Whether it may be cut to fit the width. @default false */
  readonly canShrink?: boolean;
  /** Change how a cell looks; must not change its width. @default as it is */
  readonly paint?: (cell: string, row: number) => string;
}

/** Between two columns. */
const gap = "  ";
/** Narrowest that a column is made. */
const narrowest = 10;

/**
 * The lines of a table; titles first.
 *
 * @param width columns of the terminal; `Infinity` for none.
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

/** Take what is missing from the widest column that may shrink, until the line fits or nothing can shrink. */
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
