/**
 * `toolcrib audit`: shows tool calls, their callers and their outcomes. Reads the
 * audit trail of the home directly, so it works with and without a running gateway.
 */

import type { AuditRecord } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { formatRows } from "../output/table.ts";
import { type AuditFlags, isWanted, toQuery } from "./audit-filter.ts";
import { findCallId, openTrailReader, unknownCall } from "./find-call.ts";
import { fixedWidths, recordLines, titleLine, widthsOf } from "./narrow-records.ts";
import {
  callTree,
  type RecordCells,
  recordCells,
  recordColumns,
  recordRow,
  wideColumns,
} from "./record-row.ts";

/** What is shown of records on a terminal. */
interface ShownFlags {
  /** Whether ids of calls and details are shown where the terminal is too narrow for their columns. @default false */
  readonly long?: boolean;
}

/** Runs `audit list`. */
export async function listRecords(context: CliContext, flags: AuditFlags & ShownFlags): Promise<ExitCode> {
  const { output } = context;
  await using reader = await openTrailReader(context);
  const records = await reader.list(toQuery(flags, context.now()));
  output.json(records);
  printRecords(output, records, flags);
  return exitCodes.done;
}

function printRecords(output: Output, records: readonly AuditRecord[], { long = false }: ShownFlags): void {
  if (records.length === 0) output.print("No records.");
  else if (output.width >= wideColumns) {
    output.table(recordColumns(output), records.map(recordRow));
  } else {
    const rows = records.map(narrowCells);
    const widths = widthsOf(rows);
    output.print(
      titleLine(widths, output),
      ...rows.flatMap((cells) => recordLines(cells, widths, output, long)),
    );
    if (!long) output.print(output.style("dim", "Ids of calls and details: --long, or --json"));
  }
}

/** The cells of a record on a narrow terminal: without the year. */
function narrowCells(record: AuditRecord): RecordCells {
  const cells = recordCells(record);
  return { ...cells, time: cells.time.slice(5) };
}

/** Runs `audit show`. */
export async function showCall(context: CliContext, id: string): Promise<ExitCode> {
  const { output } = context;
  await using reader = await openTrailReader(context);
  const call = await reader.show(await findCallId(reader, id, "audit show"));
  if (call === undefined) throw unknownCall(id);
  output.json(call);
  output.print(...callTree(call, output));
  return exitCodes.done;
}

/** Runs `audit tail`. */
export async function tailRecords(
  context: CliContext,
  flags: AuditFlags & ShownFlags & { follow?: boolean },
): Promise<ExitCode> {
  if (flags.follow === true) return followRecords(context, flags);
  const { output } = context;
  await using reader = await openTrailReader(context);
  const records = (await reader.list(toQuery(flags, context.now()))).toReversed();
  output.json(records);
  printRecords(output, records, flags);
  return exitCodes.done;
}

async function followRecords(context: CliContext, flags: AuditFlags & ShownFlags): Promise<ExitCode> {
  const query = toQuery(flags, context.now());
  const stopping = new AbortController();
  const signal = AbortSignal.any([context.signal, context.outputClosed, stopping.signal]);
  await using reader = await openTrailReader(context);
  const news = reader.tail({ limit: 0, follow: true, signal })[Symbol.asyncIterator]();
  // Fix the end of the trail before reading the last records, so that no record is missed in between.
  let next = news.next();
  next.catch(() => {
    // The awaiting code reports it.
  });
  try {
    const show = createFollower(context, flags);
    const last = (await reader.list(query)).toReversed();
    const shown = new Set(last.map(({ id }) => id));
    last.forEach(show);
    for (let record = await next; record.done !== true; record = await next) {
      if (!shown.has(record.value.id) && isWanted(record.value, query)) show(record.value);
      next = news.next();
    }
  } catch (error) {
    // The command normally ends by Ctrl-C or when the reader of its output is gone.
    if (!signal.aborted) throw error;
  } finally {
    stopping.abort();
  }
  return exitCodes.done;
}

/** Prints records one by one, in columns of fixed width. */
function createFollower({ output }: CliContext, { long = false }: ShownFlags): (record: AuditRecord) => void {
  let isFirst = true;
  if (output.width < wideColumns)
    return (record) => {
      output.jsonLine(record);
      if (isFirst) output.print(titleLine(fixedWidths, output));
      output.print(...recordLines(narrowCells(record), fixedWidths, output, long));
      isFirst = false;
    };
  const widths = [20, 10, 30, 12, 8, 18, 0];
  const pad = (text: string, at: number) => text.padEnd(widths[at] ?? 0);
  const columns = recordColumns(output).map((column, at) => ({ ...column, title: pad(column.title, at) }));
  const linesOf = (row: readonly string[]) =>
    formatRows(columns, [row], { width: output.width, paintTitle: (one) => output.style("dim", one) });
  const titleCount = linesOf([]).length - 1;
  return (record) => {
    output.jsonLine(record);
    const lines = linesOf(recordRow(record));
    output.print(...lines.slice(isFirst ? 0 : titleCount));
    isFirst = false;
  };
}
