/**
 * Formats audit records for a terminal that is too narrow for all columns: a line for each, with what one looks for
 * first. A tool that does not fit follows below its record, as a whole; only the name of a client that leaves no room for
 * the columns after it is cut. Ids of calls and details are shown on request. Pure; the cells are safe for a terminal.
 */

import type { Output } from "../output/output.ts";
import { wrapBelow } from "../output/table.ts";
import { fitText, padText, textWidth } from "../output/text-width.ts";
import { outcomeStyles, type RecordCells } from "./record-row.ts";

const gap = "  ";
/** Widths up to which columns are as wide as their cells; a cell that is longer moves what follows it. */
const maxWidths = { client: 16, took: 7, what: 14 } as const;

/** Widths of the columns before the tool. */
interface Widths {
  readonly time: number;
  readonly client: number;
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
    took: Math.min(maxWidths.took, widest("took")),
    what: Math.min(maxWidths.what, widest("what")),
  };
}

/** Returns the line of the titles. */
export function titleLine(widths: Widths, { style }: Pick<Output, "style">): string {
  const { time, client, took, what, subject } = titles;
  const padded = [
    padText(time, widths.time),
    padText(client, widths.client),
    padText(took, widths.took),
    padText(what, widths.what),
    subject,
  ];
  return padded.map((title) => style("dim", title)).join(gap);
}

/** Returns the lines of a record. @param isLong whether the id of the call and details follow */
export function recordLines(
  cells: RecordCells,
  widths: Widths,
  { style, width }: Pick<Output, "style" | "width">,
  isLong: boolean,
): readonly string[] {
  const { time, client, took, what, subject, call, detail } = cells;
  const others = widths.time + widths.took + textWidth(what) + 3 * gap.length;
  const before = [
    padText(time, widths.time),
    padText(fitText(client, Math.max(maxWidths.client, width - others)), widths.client),
    padText(took, widths.took),
  ].join(gap);
  const isOneLine =
    textWidth(before) + 2 * gap.length + Math.max(widths.what, textWidth(what)) + textWidth(subject) <= width;
  const shown = (text: string) => style(outcomeStyles[what] ?? "cyan", text);
  const more = isLong ? [call, detail].filter((one) => one !== "").join(gap) : "";
  return [
    isOneLine
      ? [before, shown(padText(what, widths.what)), subject].join(gap).trimEnd()
      : `${before}${gap}${shown(what)}`,
    ...(isOneLine || subject === "" ? [] : wrapBelow(subject, width)),
    ...(more === "" ? [] : wrapBelow(more, width)),
  ];
}
