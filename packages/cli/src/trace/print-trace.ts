/**
 * Prints a trace as a tree, with a bar for the start and the duration of each part
 * on one time line. Names and details come from servers and clients: they are made
 * safe for a terminal here.
 */

import { outcomeStyles, tookOf } from "../audit/record-row.ts";
import { wrapText } from "../explain/wrap-text.ts";
import { type Output, type Style, safeLine } from "../output/output.ts";
import { fitText, padText, textWidth } from "../output/text-width.ts";
import type { TraceNode } from "./trace-node.ts";

/** Columns of the time line at most and at least. */
const barMaxWidth = 40;
const barMinWidth = 10;
/** Width of a trace where the output is no terminal. */
const defaultWidth = 100;
/** Widest name. */
const nameMaxWidth = 46;

const hookStyles: { readonly [outcome: string]: Style } = {
  allow: "green",
  deny: "magenta",
  replace: "yellow",
  granted: "green",
  waiting: "yellow",
};

/** The time line of a trace. */
interface TimeLine {
  readonly start: number;
  readonly end: number;
}

/** A line of the tree: a part, and the branches before it and before what is below it. */
interface Row {
  readonly node: TraceNode;
  readonly first: string;
  readonly others: string;
}

/** Options of `traceLines`. */
export interface TraceOptions {
  /** The end of calls that are not completed, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether a gateway runs, so that such calls can be in flight. */
  readonly isRunning: boolean;
}

/** Returns the lines of a trace. */
export function traceLines(root: TraceNode, output: Output, options: TraceOptions): readonly string[] {
  const rows = rowsOf(root, "", "");
  const line = timeLine(root, options);
  const cells = rows.map(({ node, first }) => ({
    name: `${first}${safeLine(node.name)}`,
    outcome: outcomeOf(node, options),
    took: node.kind === "event" || node.durationMs === undefined ? "" : tookOf(node.durationMs),
  }));
  const width = output.width === Number.POSITIVE_INFINITY ? defaultWidth : output.width;
  const outcomeWidth = Math.max(...cells.map(({ outcome }) => textWidth(outcome)));
  const tookWidth = Math.max(...cells.map(({ took }) => textWidth(took)));
  const wanted = Math.min(nameMaxWidth, Math.max(...cells.map(({ name }) => textWidth(name))));
  const free = width - outcomeWidth - tookWidth - 6;
  const nameWidth = Math.max(barMinWidth, Math.min(wanted, free - barMinWidth));
  const barWidth = Math.max(barMinWidth, Math.min(barMaxWidth, free - nameWidth));
  const indentation = nameWidth + 2 + outcomeWidth + 2 + tookWidth + 2;
  const total = tookOf(line.end - line.start);
  const scale = `${" ".repeat(indentation)}0${total.padStart(barWidth - 1)}`;
  return [
    output.style("dim", scale),
    ...rows.flatMap(({ node, others }, at) => {
      const { name = "", outcome = "", took = "" } = cells[at] ?? {};
      const style = outcomeStyles[outcome] ?? hookStyles[outcome] ?? "yellow";
      const bar = output.style(node.kind === "call" ? "cyan" : "dim", barOf(node, line, barWidth, options));
      const main = [
        padText(fitText(name, nameWidth), nameWidth),
        output.style(style, padText(outcome, outcomeWidth)),
        took.padStart(tookWidth),
        bar,
      ].join("  ");
      const branch = node.children.length > 0 ? "│  " : "   ";
      const detail = safeLine(node.details.join(", "));
      const below = detail === "" ? [] : wrapText(detail, width, `${others}${branch}`);
      return [main.trimEnd(), ...below.map((text) => output.style("dim", fitText(text, width)))];
    }),
  ];
}

/** Returns the tree as lines, each with its branches. */
function rowsOf(node: TraceNode, first: string, others: string): readonly Row[] {
  const left: readonly TraceNode[] =
    node.isTruncated === true
      ? [
          {
            ...node,
            kind: "event",
            name: "more calls, not shown",
            details: [],
            children: [],
            isTruncated: false,
          },
        ]
      : [];
  const inner = [...node.children, ...left];
  return [
    { node, first, others },
    ...inner.flatMap((child, at) => {
      const isLast = at === inner.length - 1;
      return rowsOf(child, `${others}${isLast ? "└─ " : "├─ "}`, `${others}${isLast ? "   " : "│  "}`);
    }),
  ];
}

function outcomeOf({ isOpen, outcome = "" }: TraceNode, { isRunning }: TraceOptions): string {
  if (isOpen === true) return isRunning ? "in flight" : "not completed";
  return safeLine(outcome);
}

function endOf({ start, durationMs, isOpen }: TraceNode, { now, isRunning }: TraceOptions): number {
  return isOpen === true && isRunning ? Math.max(start, now) : start + (durationMs ?? 0);
}

/** From the first start of a part to the last end. An approval can be long before: it does not stretch the line. */
function timeLine(root: TraceNode, options: TraceOptions): TimeLine {
  let { start } = root;
  let end = endOf(root, options);
  const visit = (node: TraceNode): void => {
    if (node.kind !== "approval") {
      start = Math.min(start, node.start);
      end = Math.max(end, endOf(node, options));
    }
    node.children.forEach(visit);
  };
  visit(root);
  return { start, end };
}

/** A bar of a part on the time line; a dot for a moment. */
function barOf(node: TraceNode, { start, end }: TimeLine, width: number, options: TraceOptions): string {
  const scale = end > start ? width / (end - start) : 0;
  const place = (time: number) => Math.max(0, Math.min(width - 1, Math.floor((time - start) * scale)));
  const from = place(node.start);
  if (node.kind === "event" || node.kind === "approval") return `${" ".repeat(from)}·`;
  const to = Math.max(from + 1, Math.min(width, Math.round((endOf(node, options) - start) * scale)));
  const isOpen = node.isOpen === true && options.isRunning;
  return `${" ".repeat(from)}${"█".repeat(isOpen ? Math.max(1, to - from - 1) : to - from)}${isOpen ? "▶" : ""}`;
}
