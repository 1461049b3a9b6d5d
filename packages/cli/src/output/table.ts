/**
 * Formats tables with aligned columns that fit the terminal. It cuts the columns
 * that may shrink, the widest first, and names only after all others. Without a
 * terminal it cuts nothing. Programs use `--json`.
 */

import { fitName, fitText, padText, textWidth } from "./text-width.ts";

/** One column. */
export interface Column {
  readonly title: string;
  /** Whether it may be cut to fit the width. @default false */
  readonly canShrink?: boolean;
  /** Whether its cells are names or commands: they shrink last, and keep their beginning and their end. @default false */
  readonly isName?: boolean;
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
        const fitted = (columns[at]?.isName === true ? fitName : fitText)(cell, widths[at] ?? 0);
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

/** Shrinks the widest shrinkable column until the line fits or no column can shrink; names after all others. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1);
  const widestOf = (areNames: boolean): number => {
    let widest = -1;
    for (const [at, column] of columns.entries()) {
      if (column.canShrink !== true || (column.isName === true) !== areNames) continue;
      const isCandidate = (widths[at] ?? 0) > narrowest;
      if (isCandidate && (widest === -1 || (widths[at] ?? 0) > (widths[widest] ?? 0))) widest = at;
    }
    return widest;
  };
  while (total() > width) {
    const other = widestOf(false);
    const widest = other === -1 ? widestOf(true) : other;
    if (widest === -1) return widths;
    widths[widest] = Math.max(narrowest, Math.min((widths[widest] ?? 0) - 1, width));
  }
  return widths;
}
