/**
 * Formats tables with aligned columns that fit the terminal. It cuts the columns
 * that may shrink, the widest first, and names only after all others. Where that
 * is not enough, each row becomes a block of its own: the first cell, then the
 * others after their titles. A column can move below its row before anything is cut. Without a terminal it cuts nothing. Programs use `--json`.
 */

import { wrapProse, wrapStyled } from "./fit-styled.ts";
import { fitName, fitText, padText, textWidth } from "./text-width.ts";

/** One column. */
export interface Column {
  readonly title: string;
  /** Whether it may be cut to fit the width. @default false */
  readonly canShrink?: boolean;
  /** Whether its cells are names or commands: they shrink last, and keep their beginning and their end. @default false */
  readonly isName?: boolean;
  /** Whether its cells get a line of their own below the row where the table is too wide, instead of being cut. @default false */
  readonly isBelow?: boolean;
  /** Styles a cell without changing its width. @default no style */
  readonly paint?: (cell: string, row: number) => string;
}

/** Space between two columns. */
const gap = "  ";
/** Smallest width of a column that shrinks. */
const narrowest = 10;
/** Width down to which other columns shrink before names do, so that words such as types stay readable. */
const readable = 20;

/** How a table is formatted. */
export interface TableOptions {
  /** Columns of the terminal; `Infinity` without a terminal. */
  readonly width: number;
  readonly paintTitle?: (title: string) => string;
}

/** Returns the lines of rows: a table where it fits the width, otherwise a block for each row. */
export function formatRows(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string[] {
  const isTooWide = lineWidth(naturalWidths(columns, rows)) > options.width;
  const below = isTooWide ? columns.findIndex(({ isBelow }) => isBelow === true) : -1;
  if (below !== -1) return formatWithBelow(columns, rows, { ...options, below });
  return (fitsTable(columns, rows, options) ? formatTable : formatBlocks)(columns, rows, options);
}

/** Whether the rows fit the width as a table, with columns that shrink. */
export function fitsTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): boolean {
  return lineWidth(widthsOf(columns, rows, options)) <= options.width;
}

function widthsOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width }: TableOptions,
): number[] {
  return fitWidths(columns, naturalWidths(columns, rows), width);
}

function naturalWidths(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, at) =>
    Math.max(textWidth(title), ...rows.map((row) => textWidth(row[at] ?? ""))),
  );
}

/** Wraps a cell between words; a word that no line can hold is continued in the next one. */
export function wrapBelow(cell: string, width: number): readonly string[] {
  return wrapProse(`${gap}${cell}`, width).flatMap((line) =>
    textWidth(line) <= width
      ? [line]
      : wrapStyled(line.trimStart(), width - 2 * gap.length).map((part) => `${gap}${gap}${part}`),
  );
}

/** Returns a table without the column `below`, whose cell follows its row, wrapped between words. */
function formatWithBelow(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { below, ...options }: TableOptions & { readonly below: number },
): string[] {
  const without = <T>(cells: readonly T[]) => cells.filter((_cell, at) => at !== below);
  const others = rows.map(without);
  const rest = without(columns);
  if (!fitsTable(rest, others, options)) return formatBlocks(columns, rows, options);
  const [titles = "", ...lines] = formatTable(rest, others, options);
  const { title = "", paint = (cell: string) => cell } = columns[below] ?? {};
  const paintTitle = options.paintTitle ?? ((one) => one);
  return [
    titles,
    `${gap}${paintTitle(title.trimEnd())}`,
    ...lines.flatMap((line, index) => {
      const cell = rows[index]?.[below] ?? "";
      if (cell === "") return [line];
      return [line, ...wrapBelow(cell, options.width).map((one) => paint(one, index))];
    }),
  ];
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1);
}

/** Returns the lines of a table; titles first. A table that cannot shrink to the width is wider. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string[] {
  const widths = widthsOf(columns, rows, options);
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

/**
 * Returns the lines of rows that do not fit as a table: the first cell as it is, and below it each other cell that is
 * not empty after its title, as many of them in a line as fit. Only columns that may shrink are cut.
 */
function formatBlocks(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, paintTitle = (title: string) => title }: TableOptions,
): string[] {
  return rows.flatMap((row, index) => {
    const paint = (cell: string, at: number) => columns[at]?.paint?.(cell, index) ?? cell;
    const lines = [paint(row[0] ?? "", 0)];
    let left = 0;
    for (const [at, { title, canShrink, isName }] of columns.entries()) {
      const cell = row[at] ?? "";
      if (at === 0 || cell === "") continue;
      const most = Math.max(narrowest, width - gap.length - textWidth(title) - 1);
      const shown = canShrink === true ? (isName === true ? fitName : fitText)(cell, most) : cell;
      const text = `${gap}${paintTitle(title)} ${paint(shown, at)}`;
      const needed = gap.length + textWidth(title) + 1 + textWidth(shown);
      if (needed > left) {
        lines.push(text);
        left = width - needed;
      } else {
        lines.push(`${lines.pop() ?? ""}${text}`);
        left -= needed;
      }
    }
    return lines;
  });
}

/**
 * Shrinks the widest shrinkable column until the line fits or no column can shrink: first others to a width at which
 * they can be read, then names to twice that, then others and at last names as far as they shrink.
 */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const steps = [
    { areNames: false, least: readable },
    { areNames: true, least: 2 * readable },
    { areNames: false, least: narrowest },
    { areNames: true, least: narrowest },
  ];
  for (const { areNames, least } of steps) {
    while (lineWidth(widths) > width) {
      let widest = -1;
      for (const [at, column] of columns.entries()) {
        if (column.canShrink !== true || (column.isName === true) !== areNames) continue;
        const isCandidate = (widths[at] ?? 0) > least;
        if (isCandidate && (widest === -1 || (widths[at] ?? 0) > (widths[widest] ?? 0))) widest = at;
      }
      if (widest === -1) break;
      widths[widest] = Math.max(least, Math.min((widths[widest] ?? 0) - 1, width));
    }
  }
  return widths;
}
