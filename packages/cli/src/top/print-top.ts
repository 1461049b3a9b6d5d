/** Prints the sums of calls as tables. Names are foreign text and made safe here. */

import { tookOf } from "../audit/record-row.ts";
import { type Output, safeLine } from "../output/output.ts";
import type { Column } from "../output/table.ts";
import { textWidth } from "../output/text-width.ts";
import type { CallGroup, CallSums } from "./call-window.ts";

/** Columns that rows can be sorted by, with the key of each on a terminal. */
export const sortKeys = {
  calls: "c",
  errors: "e",
  p50: "m",
  p99: "l",
  inflight: "f",
  tokens: "t",
  name: "n",
} as const;

/** A name of `sortKeys`. */
export type SortKey = keyof typeof sortKeys;

const values: { readonly [Key in Exclude<SortKey, "name">]: (sums: CallSums) => number } = {
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  p50: ({ p50Ms }) => p50Ms ?? -1,
  p99: ({ p99Ms }) => p99Ms ?? -1,
  inflight: ({ inFlight }) => inFlight,
  tokens: ({ resultTokens }) => resultTokens,
};

/** Returns the sums, the highest first, or by name. */
export function sortSums(sums: readonly CallSums[], key: SortKey): readonly CallSums[] {
  const byName = (one: CallSums, other: CallSums) => (one.name < other.name ? -1 : 1);
  if (key === "name") return sums.toSorted(byName);
  const value = values[key];
  return sums.toSorted((one, other) => value(other) - value(one) || byName(one, other));
}

/** Terminal width from which a table by tool has columns of a fixed width, and one of calls by second. */
const wideColumns = 100;

/** Prints one table. On a narrow terminal the long names of tools get the space that numbers do not need. */
export function printSums(output: Output, group: CallGroup, sums: readonly CallSums[], sort: SortKey): void {
  const isWide = group !== "tool" || output.width >= wideColumns;
  const mark = (title: string, key: SortKey) => (key === sort ? `${title}▾` : title);
  const numbers: readonly NumberColumn[] = [
    ...(isWide ? [{ title: "CALLS/S", text: perSecond }] : []),
    { title: mark("CALLS", "calls"), text: ({ calls }) => String(calls) },
    {
      title: mark("ERRORS", "errors"),
      text: ({ errors }) => String(errors),
      paint: (cell) => (cell.trim() === "0" ? cell : output.style("red", cell)),
    },
    { title: mark("P50", "p50"), text: ({ p50Ms }) => shortMs(p50Ms) },
    { title: mark("P99", "p99"), text: ({ p99Ms }) => shortMs(p99Ms) },
    { title: mark("NOW", "inflight"), text: ({ inFlight }) => String(inFlight) },
    { title: mark("~TOKENS", "tokens"), text: ({ resultTokens }) => String(resultTokens) },
  ];
  const sorted = sortSums(sums, sort);
  const cells = numbers.map(({ title, text }) => {
    const texts = [title, ...sorted.map(text)];
    const width = Math.max(isWide ? 8 : 0, ...texts.map(textWidth));
    return texts.map((one) => " ".repeat(width - textWidth(one)) + one);
  });
  output.table(
    [
      { title: mark(group.toUpperCase(), "name"), canShrink: true, isName: true },
      ...numbers.map(({ paint }, at) => ({
        title: cells[at]?.[0] ?? "",
        ...(paint === undefined ? {} : { paint }),
      })),
    ],
    sorted.map((one, row) => [safeLine(one.name), ...cells.map((column) => column[row + 1] ?? "")]),
  );
}

/** A column of numbers. */
interface NumberColumn {
  readonly title: string;
  readonly text: (sums: CallSums) => string;
  readonly paint?: NonNullable<Column["paint"]>;
}

function perSecond({ callsPerSecond }: CallSums): string {
  return callsPerSecond.toFixed(callsPerSecond < 10 ? 2 : 0);
}

function shortMs(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 10 ? `${ms.toFixed(1)} ms` : tookOf(ms);
}
