/** `toolcrib audit export`: writes the records of the trail for another program, oldest first. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { createFile, replaceFile } from "@toolcrib/files";
import { readTrail } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";
import { type AuditFlags, isWanted, toQuery } from "./audit-filter.ts";
import type { ExportFormat } from "./export-format-names.ts";
import { exportWriters } from "./export-formats.ts";

/** Options of the command. */
export interface ExportFlags extends Omit<AuditFlags, "limit"> {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly force?: boolean;
}

/** Counts of an export. */
interface Counts {
  records: number;
  unreadable: number;
}

/** Runs the command. */
export async function exportAudit(context: CliContext, flags: ExportFlags): Promise<ExitCode> {
  const { output, directory } = context;
  const counts: Counts = { records: 0, unreadable: 0 };
  if (flags.output === undefined) await print(context, textOf(context, flags, counts));
  else {
    const path = resolve(directory, flags.output);
    await write(path, flags.force === true, textOf(context, flags, counts));
    output.json({ file: path, ...counts });
    output.print(`Exported ${counted(counts.records, "record")} to ${safeLine(path)}`);
  }
  if (counts.unreadable > 0)
    output.note(
      `${counted(counts.unreadable, "line")} of the trail left out: not a record; ${asTyped("see toolcrib audit verify", context)}`,
    );
  return exitCodes.done;
}

async function* textOf(
  { options, now, signal }: CliContext,
  { format, output: _output, force: _force, ...filter }: ExportFlags,
  counts: Counts,
): AsyncGenerator<string, void, undefined> {
  const query = toQuery(filter, now());
  const { header, lines } = exportWriters[format];
  if (header !== "") yield header;
  const onUnreadable = () => {
    counts.unreadable += 1;
  };
  for await (const portion of readTrail(options.home, { signal, onUnreadable })) {
    const wanted = portion.filter(({ record }) => isWanted(record, query));
    counts.records += wanted.length;
    const text = lines(wanted);
    if (text !== "") yield text;
  }
}

/** Waits for the reader of standard output, so that nothing is collected in memory. */
async function print({ stdout, outputClosed }: CliContext, texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    if (outputClosed.aborted) return;
    if (stdout.write(text)) continue;
    // The reader of the output may be gone, which is no failure.
    await once(stdout, "drain", { signal: outputClosed }).catch((error: unknown) => {
      if (!outputClosed.aborted) throw error;
    });
  }
}

/** Writes the file in one step: it has the whole export, or is as it was. */
async function write(path: string, isForced: boolean, texts: AsyncIterable<string>): Promise<void> {
  if (isForced) {
    await replaceFile({ randomBytes }, path, texts);
    return;
  }
  // Looked up first, so that nothing is exported in vain.
  const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (exists || !(await createFile({ randomBytes }, path, texts)))
    throw new CliError("CLI_FILE_EXISTS", `"${path}" exists`, {
      hint: "choose another name, or replace it with --force",
    });
}
