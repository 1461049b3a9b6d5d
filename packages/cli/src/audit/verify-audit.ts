/** `toolcrib audit verify`: verifies the audit trail of the home, with and without a running gateway. */

import { resolve } from "node:path";
import { verifyTrail } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { type Output, safeLine } from "../output/output.ts";

/** Findings that are printed. `--json` has more. */
const shownMaxCount = 50;

type TrailReport = Awaited<ReturnType<typeof verifyTrail>>;

/** Runs the command. */
export async function verifyAudit(
  { output, options, signal, directory }: CliContext,
  { anchor }: { readonly anchor?: string },
): Promise<ExitCode> {
  const anchorFile = anchor === undefined ? undefined : resolve(directory, anchor);
  const report = await verifyTrail(options.home, { anchorFile, signal });
  output.json({ isIntact: report.findings.length === 0, ...report });
  printReport(output, report);
  return report.findings.length === 0 ? exitCodes.done : exitCodes.failed;
}

function printReport(output: Output, { writers, findings, publicKey, anchors }: TrailReport): void {
  if (writers.length === 0) {
    output.print("No records.");
    return;
  }
  output.table(
    [
      { title: "WRITER" },
      { title: "RECORDS" },
      { title: "FROM" },
      { title: "TO" },
      { title: "SIGNED UP TO" },
      ...(anchors === undefined ? [] : [{ title: "ANCHORED UP TO" }]),
    ],
    writers.map(({ writer, records, firstSequence, lastSequence, provedSequence, anchoredSequence }) => [
      writer,
      String(records),
      String(firstSequence),
      String(lastSequence),
      provedSequence === undefined ? "not signed" : String(provedSequence),
      ...(anchors === undefined ? [] : [anchoredSequence === 0 ? "not anchored" : String(anchoredSequence)]),
    ]),
  );
  output.print("");
  for (const { segment, line, message } of findings.slice(0, shownMaxCount)) {
    const place = segment === "" ? "" : ` ${safeLine(segment)}:${line}`;
    output.print(`${output.style(["bold", "red"], "FOUND")}${place}: ${safeLine(message)}`);
  }
  if (findings.length > shownMaxCount) output.print(`… and ${findings.length - shownMaxCount} more (--json)`);
  const records = writers.reduce((sum, one) => sum + one.records, 0);
  if (findings.length === 0) output.print(`The chain is intact: ${counted(records, "record")}`);
  if (anchors !== undefined) output.print(`Anchors that match: ${anchors.matched} of ${anchors.count}`);
  for (const note of notesOf(writers)) output.print(output.style("dim", note));
  if (publicKey !== undefined)
    output.print(output.style("dim", `Heads are signed with this key:\n${publicKey.trim()}`));
}

function notesOf(writers: TrailReport["writers"]): readonly string[] {
  const sumOf = (count: (writer: TrailReport["writers"][number]) => number) =>
    writers.reduce((sum, writer) => sum + count(writer), 0);
  const unchained = sumOf(({ unchainedRecords }) => unchainedRecords);
  const unproved = sumOf(({ lastSequence, provedSequence = 0 }) =>
    Math.max(0, lastSequence - provedSequence),
  );
  return [
    unchained === 0
      ? []
      : `Not part of the chain: ${counted(unchained, "record")} that an earlier version wrote before it`,
    unproved === 0
      ? []
      : `Not signed yet: the last ${counted(unproved, "record")}; if they were changed or cut off, nothing shows it`,
  ].flat();
}
