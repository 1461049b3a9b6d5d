/** `toolcrib audit export`: writes the records of the trail for another program, oldest first. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { createFile, FilesError, removeFile, replaceFile, toUnwritable } from "@toolcrib/files";
import { ExportProof, readTrail, verifyTrail } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
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
  readonly proof?: string;
}

/** Counts of an export. */
interface Counts {
  records: number;
  unreadable: number;
  /** Records after the signed ends, which an export with a proof leaves out. */
  unsigned: number;
}

/** Runs the command. */
export async function exportAudit(context: CliContext, flags: ExportFlags): Promise<ExitCode> {
  const { output, directory, options } = context;
  const counts: Counts = { records: 0, unreadable: 0, unsigned: 0 };
  const proofPath = flags.proof === undefined ? undefined : resolve(directory, flags.proof);
  const path = flags.output === undefined ? undefined : resolve(directory, flags.output);
  if (proofPath !== undefined) checkProofFlags(flags, proofPath, path);
  // Read before the records, which reach at least to these ends.
  const proof = proofPath === undefined ? undefined : new ExportProof(options.home);
  let isProved = false;
  const formatProof = async () => {
    if (proof === undefined || proofPath === undefined) return;
    await write(proofPath, flags.force === true, proof.format(context.now()));
    isProved = true;
  };
  const texts = textOf(context, flags, counts, { proof, onEnd: formatProof });
  try {
    if (path === undefined) await print(context, texts);
    else await write(path, flags.force === true, texts);
  } catch (error) {
    // A proof without its export proves nothing. The first error counts.
    const isExported = error instanceof FilesError && error.content === "new";
    if (isProved && !isExported && proofPath !== undefined)
      await removeFile(proofPath).catch(() => undefined);
    throw error;
  }
  if (path !== undefined) {
    const { unsigned, ...shown } = counts;
    const ofProof = { proof: proofPath, key: proof?.keyDigest, unsigned };
    output.json({ file: path, ...shown, ...(proof === undefined ? {} : ofProof) });
    output.print(`Exported ${counted(counts.records, "record")} to ${safeLine(path)}`);
  }
  if (proof !== undefined && proofPath !== undefined) {
    const text = isProved
      ? `The proof in ${safeLine(proofPath)} is signed with the key ${proof.keyDigest}`
      : "No proof was written: the program that reads standard output ended before the export";
    if (path === undefined) output.note(text);
    else output.print(text);
  }
  if (isProved) await warnAboutFindings(context);
  if (counts.unreadable > 0)
    output.note(
      `${counted(counts.unreadable, "line")} of the trail left out: not a record; ${asTyped("see toolcrib audit verify", context)}`,
    );
  if (counts.unsigned > 0)
    output.note(
      `${counted(counts.unsigned, "record")} left out: not signed yet; a gateway signs once a minute and when it stops`,
    );
  return exitCodes.done;
}

/**
 * Warns where the trail is not as it was written: its proof is valid. What is wrong in the exported records is found in the
 * export, too. The rest, such as records after the signed end, is found only in the home.
 */
async function warnAboutFindings(context: CliContext): Promise<void> {
  const { output, options, signal } = context;
  const warning = output.noteStyle("yellow", "warning");
  const verify = asTyped("see toolcrib audit verify", context);
  try {
    const { findings } = await verifyTrail(options.home, { signal });
    if (findings.length === 0) return;
    const what = counted(findings.length, "finding");
    noteWrapped(
      context,
      `${warning}: the trail is not intact (${what}): the proof is signed all the same; audit verify --export finds what is wrong in the exported records, and the rest is found only in the home; ${verify}`,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isCodedError(error)) throw error;
    noteWrapped(
      context,
      `${warning}: it is not known whether the trail is intact: ${safeLine(error.message)}; ${verify}`,
    );
  }
}

/** @throws {CliError} `CLI_USAGE`, `CLI_FILE_EXISTS` */
function checkProofFlags(
  { format, output: _output, force, proof: _proof, ...filter }: ExportFlags,
  proofPath: string,
  path: string | undefined,
): void {
  const filters = Object.entries(filter).filter(([, value]) => value !== undefined);
  if (format !== "jsonl" || filters.length > 0)
    throw new CliError("CLI_USAGE", "--proof is of all records as they are stored", {
      hint: "use --format jsonl (the default) and no option that selects records: of a part, nothing shows what was left out",
    });
  if (proofPath === path)
    throw new CliError("CLI_USAGE", "--proof and --output name the same file", {
      hint: "name a file for each of them",
    });
  // Before the export: a trail can be long.
  if (force !== true && lstatSync(proofPath, { throwIfNoEntry: false }) !== undefined)
    throw fileExists(proofPath);
  try {
    accessSync(dirname(proofPath), constants.W_OK | constants.X_OK);
    if (lstatSync(proofPath, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new Error("it is a directory");
  } catch (cause) {
    throw toUnwritable(proofPath, cause);
  }
}

function fileExists(path: string): CliError {
  return new CliError("CLI_FILE_EXISTS", `"${path}" exists`, {
    hint: "choose another name, or replace it with --force",
  });
}

async function* textOf(
  { options, now, signal }: CliContext,
  { format, output: _output, force: _force, proof: _proof, ...filter }: ExportFlags,
  counts: Counts,
  /** `onEnd` runs after the last text is taken, and before a file with the texts is in its place. */
  { proof, onEnd }: { readonly proof: ExportProof | undefined; readonly onEnd: () => Promise<void> },
): AsyncGenerator<string, void, undefined> {
  const query = toQuery(filter, now());
  const { header, lines } = exportWriters[format];
  if (header !== "") yield header;
  const onUnreadable = () => {
    counts.unreadable += 1;
  };
  for await (const portion of readTrail(options.home, { signal, onUnreadable })) {
    const selected = portion.filter(({ record }) => isWanted(record, query));
    const wanted = selected.filter(({ record }) => proof?.includes(record) ?? true);
    counts.unsigned += selected.length - wanted.length;
    counts.records += wanted.length;
    const text = lines(wanted);
    proof?.add(text, wanted.length);
    if (text !== "") yield text;
  }
  await onEnd();
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
async function write(path: string, isForced: boolean, texts: string | AsyncIterable<string>): Promise<void> {
  if (isForced) {
    await replaceFile({ randomBytes }, path, texts);
    return;
  }
  // Before the export: a trail can be long.
  const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (exists || !(await createFile({ randomBytes }, path, texts))) throw fileExists(path);
}
