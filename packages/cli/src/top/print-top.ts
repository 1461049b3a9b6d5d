/** Prints the sums of calls as tables. Names are foreign text and made safe here. */

import { tookOf } from "../audit/record-row.ts";
import { type Output, safeLine } from "../output/output.ts";
import type { Column } from "../output/table.ts";
import type { CallGroup, CallSums } from "./call-window.ts";

/** What rows can be sorted by, with the key of each on a terminal. */
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

/** Prints one table. */
export function printSums(output: Output, group: CallGroup, sums: readonly CallSums[], sort: SortKey): void {
  const mark = (title: string, key: SortKey) => (key === sort ? `${title}▾` : title);
  const number = (title: string, key: SortKey): Column => ({ title: mark(title, key).padStart(8) });
  const columns: readonly Column[] = [
    { title: mark(group.toUpperCase(), "name"), canShrink: true },
    { title: "CALLS/S".padStart(8) },
    number("CALLS", "calls"),
    {
      ...number("ERRORS", "errors"),
      paint: (cell) => (cell.trim() === "0" ? cell : output.style("red", cell)),
    },
    number("P50", "p50"),
    number("P99", "p99"),
    number("NOW", "inflight"),
    number("~TOKENS", "tokens"),
  ];
  output.table(
    columns,
    sortSums(sums, sort).map((one) => [
      safeLine(one.name),
      ...[
        one.callsPerSecond.toFixed(one.callsPerSecond < 10 ? 2 : 0),
        String(one.calls),
        String(one.errors),
        shortMs(one.p50Ms),
        shortMs(one.p99Ms),
        String(one.inFlight),
        String(one.resultTokens),
      ].map((cell) => cell.padStart(8)),
    ]),
  );
}

function shortMs(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 10 ? `${ms.toFixed(1)} ms` : tookOf(ms);
}
