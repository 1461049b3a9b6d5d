/** `toolcrib audit verify --export`: verifies a file of `audit export` without the home of its gateway. Reads no home. */

import { resolve } from "node:path";
import { verifyExport } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { printFindings } from "./print-findings.ts";

/** Options of the command. */
interface ExportedFlags {
  readonly file: string;
  readonly proof: string | undefined;
  /** A digest, or a file. */
  readonly key: string | undefined;
}

type ExportReport = Awaited<ReturnType<typeof verifyExport>>;

/** Runs the command. */
export async function verifyExported(context: CliContext, flags: ExportedFlags): Promise<ExitCode> {
  const { output, directory, signal } = context;
  const { proof, key } = flags;
  if (key !== undefined && proof === undefined)
    throw new CliError("CLI_USAGE", "--key needs --proof: an export alone has no signature", {
      hint: "let the operator export with --proof FILE, and pass this file too",
    });
  const report = await verifyExport(resolve(directory, flags.file), {
    proof: proof === undefined ? undefined : resolve(directory, proof),
    key: key === undefined || key.startsWith("sha256:") ? key : resolve(directory, key),
    signal,
  });
  const { writers, findings, accepted } = report;
  output.json({ isIntact: findings.length === 0, ...report });
  if (writers.length > 0) {
    output.table(
      [{ title: "WRITER" }, { title: "RECORDS" }, { title: "FROM" }, { title: "TO" }, { title: "SIGNED AT" }],
      writers.map(({ writer, records, firstSequence, lastSequence, signedAt }) => [
        writer,
        String(records),
        String(firstSequence),
        String(lastSequence),
        signedAt ?? "not signed",
      ]),
    );
    output.print("");
  }
  printFindings(output, "FOUND", findings);
  // What the operator accepted is for the auditor to judge.
  printFindings(output, "ACCEPTED", accepted);
  const records = writers.reduce((sum, one) => sum + one.records, 0);
  if (findings.length === 0) output.print(`${resultText(report)}: ${counted(records, "record")}`);
  else output.print(`Not intact: ${counted(findings.length, "finding")}`);
  for (const note of notesOf(report)) output.prose(output.style("dim", note));
  if (findings.some(({ kind }) => kind === "missing" || kind === "cut_off"))
    output.note("only an export without --since, --until and other options that select records is whole");
  return findings.length === 0 ? exitCodes.done : exitCodes.failed;
}

function resultText({ accepted, key }: ExportReport): string {
  const result =
    key === undefined ? "the records follow each other" : "the export is as it was when its ends were signed";
  if (accepted.length === 0) return `${result[0]?.toUpperCase()}${result.slice(1)}`;
  return `Apart from ${counted(accepted.length, "accepted finding")}, ${result}`;
}

function notesOf({ writers, findings, key, exportedAt }: ExportReport): readonly string[] {
  // A proof with a wrong signature says nothing.
  if (findings.some(({ kind }) => kind === "proof")) return [];
  const unchained = writers.reduce((sum, one) => sum + one.unchainedRecords, 0);
  return [
    unchained === 0
      ? []
      : `Not part of the chain: ${counted(unchained, "record")} that an earlier version wrote before it`,
    key === undefined
      ? writers
          .filter(({ firstSequence }) => firstSequence > 1)
          .map(
            ({ writer, firstSequence }) =>
              `Before record ${firstSequence} of writer ${writer}, nothing is known without --proof: retention deleted records, or somebody else removed them`,
          )
      : `Exported at ${safeLine(exportedAt ?? "")}`,
    key === undefined
      ? "Nothing is signed without --proof: records cut off at the end, a changed last record, and records that were all written anew are not found"
      : key.isVouched
        ? `Signed with the key that you named: ${key.digest}`
        : findings.some(({ kind }) => kind === "key")
          ? []
          : `Signed with a key that nobody vouched for: ${key.digest}; ask the operator for its digest by another channel, and pass it with --key`,
  ].flat();
}
