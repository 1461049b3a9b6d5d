/**
 * Formats audit records for a terminal that is too narrow for all columns: a line for each, with what one looks for
 * first. A record that is too wide has less space between its cells than its columns; if its tool still does not fit, it
 * follows below, as a whole. Only the name of a client that leaves no room for
 * the columns after it is cut. Ids of calls and details are shown on request. Pure; the cells are safe for a terminal.
 */

import type { Output } from "../output/output.ts";
import { wrapBelow } from "../output/table.ts";
import { fitText, padText, textWidth } from "../output/text-width.ts";
import { outcomeStyles, type RecordCells } from "./record-row.ts";

const gap = "  ";
/** Widths up to which columns are as wide as their cells; a cell that is longer moves what follows it. */
const maxWidths = { client: 16, took: 7, what: 21 } as const;

/** Widths of the columns before the tool. */
interface Widths {
  readonly time: number;
  readonly client: number;
  /** 0 where no record has a duration: the column is left out. */
  readonly took: number;
  readonly what: number;
}

const titles: RecordCells = {
  time: "TIME",
  client: "CLIENT",
  took: "TOOK",
  what: "WHAT",
  subject: "TOOL OR SERVER",
  call: "",
  detail: "",
};

/** Widths for records that are not known yet. */
export const fixedWidths: Widths = { time: 15, ...maxWidths };

/** Returns the widths for `rows`. */
export function widthsOf(rows: readonly RecordCells[]): Widths {
  const widest = (name: keyof Widths) =>
    Math.max(...[titles, ...rows].map((cells) => textWidth(cells[name])));
  return {
    time: widest("time"),
    client: Math.min(maxWidths.client, widest("client")),
    took: rows.every(({ took }) => took === "") ? 0 : Math.min(maxWidths.took, widest("took")),
    what: Math.min(maxWidths.what, widest("what")),
  };
}

/** Returns the line of the titles. */
export function titleLine(widths: Widths, { style }: Pick<Output, "style">): string {
  const padded = [...columnsOf(widths).map((name) => padText(titles[name], widths[name])), titles.subject];
  return padded.map((title) => style("dim", title)).join(gap);
}

/** Returns the columns before the tool. */
function columnsOf({ took }: Widths): readonly (keyof Widths)[] {
  return took === 0 ? ["time", "client", "what"] : ["time", "client", "took", "what"];
}

/** Returns the lines of a record. @param isLong whether the id of the call and details follow */
export function recordLines(
  cells: RecordCells,
  widths: Widths,
  { style, width }: Pick<Output, "style" | "width">,
  isLong: boolean,
): readonly string[] {
  const { client, what, subject, call, detail } = cells;
  const columns = columnsOf(widths);
  const others = widths.time + widths.took + textWidth(what) + (columns.length - 1) * gap.length;
  const shown = { ...cells, client: fitText(client, Math.max(maxWidths.client, width - others)) };
  const room = width - textWidth(subject) - columns.length * gap.length;
  const fitting = fittingWidths(shown, widths, room);
  const isOneLine = fitting !== undefined;
  const before = columns
    .map((name) => {
      const padded = padText(shown[name], (fitting ?? widths)[name]);
      return name === "what" ? style(outcomeStyles[what] ?? "cyan", isOneLine ? padded : what) : padded;
    })
    .join(gap);
  const more = isLong ? [call, detail].filter((one) => one !== "").join(gap) : "";
  return [
    isOneLine ? `${before}${gap}${subject}`.trimEnd() : before,
    ...(isOneLine || subject === "" ? [] : wrapBelow(subject, width)),
    ...(more === "" ? [] : wrapBelow(more, width)),
  ];
}

/**
 * Returns the widths of the cells of one record, with less space after those of a record that would not fit into
 * `room` otherwise; undefined where it does not fit without any.
 */
function fittingWidths(cells: RecordCells, widths: Widths, room: number): Widths | undefined {
  const columns = columnsOf(widths);
  const fitting = { ...widths };
  for (const name of columns) fitting[name] = Math.max(widths[name], textWidth(cells[name]));
  let excess = columns.reduce((sum, name) => sum + fitting[name], -room);
  for (const name of columns.toReversed()) {
    const cut = Math.min(Math.max(0, excess), fitting[name] - textWidth(cells[name]));
    fitting[name] -= cut;
    excess -= cut;
  }
  return excess > 0 ? undefined : fitting;
}
