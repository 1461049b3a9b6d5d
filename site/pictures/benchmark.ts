/**
 * The plot of the benchmark, drawn from the tables of bench/RESULTS.md, so that plot and tables
 * cannot disagree. Shows the gateways of a run side by side, also where ours is not the best.
 */

import { type Picture, textAt, toSvg } from "./svg.ts";

/** A table to plot: its heading, the column, and which way is better. */
interface Plot {
  readonly heading: string;
  readonly column: string;
  readonly label: string;
  readonly better: "more" | "less";
}

const plots: readonly Plot[] = [
  {
    heading: "Calls, one at a time",
    column: "calls/s",
    label: "Calls per second, one at a time",
    better: "more",
  },
  {
    heading: "Calls, 32 at a time",
    column: "calls/s",
    label: "Calls per second, 32 at a time",
    better: "more",
  },
  {
    heading: "Resident memory after the load",
    column: "MB",
    label: "Memory after the load, MB",
    better: "less",
  },
  {
    heading: "Start-up: process start to first tools/list",
    column: "ms",
    label: "Start until the first list of tools, ms",
    better: "less",
  },
];

/** Rows without a gateway are no contenders. */
const isGateway = (id: string) => !["direct", "pipe"].includes(id);

/** A bar: the name of a contender and its value. */
export interface Bar {
  readonly id: string;
  readonly value: number;
}

/** Returns the bars of one table of the results, in its order. */
export function readBars(results: string, heading: string, column: string): Bar[] {
  const [, section = ""] = results.split(`\n## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  const rows = [...table.matchAll(/^\|(.*)\|$/gm)].map(([, row = ""]) =>
    row.split("|").map((cell) => cell.trim()),
  );
  const [columns = [], , ...body] = rows;
  const at = columns.indexOf(column);
  return body
    .map((cells) => ({ id: cells[0] ?? "", value: Number(cells[at]) }))
    .filter(({ id, value }) => isGateway(id) && Number.isFinite(value));
}

const width = 560;
const left = 118;
const barHeight = 16;
const step = 23;
const longest = width - left - 80;

/** Draws the plot of `results`, the text of bench/RESULTS.md. Tables without rows are left out. */
export function drawBenchmark(results: string): string {
  const [, date = ""] = /^- Date: (.+)$/m.exec(results) ?? [];
  const [, processor = ""] = /^- Processor: (.+)$/m.exec(results) ?? [];
  const panels = plots
    .map((plot) => ({ ...plot, bars: readBars(results, plot.heading, plot.column) }))
    .filter(({ bars }) => bars.length > 0);
  const elements: string[] = [];
  let y = 30;
  for (const { label, better, bars } of panels) {
    elements.push(textAt(20, y, label, "title"), textAt(width - 20, y, `${better} is better`, "soft", "end"));
    y += 14;
    const most = Math.max(...bars.map(({ value }) => value));
    for (const { id, value } of bars) {
      const isOwn = id.startsWith("toolcrib");
      const length = Math.max(2, Math.round((value / most) * longest));
      elements.push(
        textAt(left - 10, y + 13, id, isOwn ? "strong" : "", "end"),
        `<rect class="${isOwn ? "own" : "bar"}" x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="2"/>`,
        textAt(left + length + 8, y + 13, value.toLocaleString("en-US"), isOwn ? "strong" : ""),
      );
      y += step;
    }
    y += 30;
  }
  elements.push(textAt(20, y - 12, `One run on ${processor}, ${date}`, "soft"));
  const picture: Picture = {
    width,
    height: y + 4,
    title: "Benchmark of Toolcrib and other gateways",
    description: panels
      .map(
        ({ label, better, bars }) =>
          `${label} (${better} is better): ${bars.map(({ id, value }) => `${id} ${value}`).join(", ")}.`,
      )
      .join(" "),
    elements,
  };
  return toSvg(picture);
}
