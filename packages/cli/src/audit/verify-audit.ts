/** `toolcrib audit verify`: verifies the audit trail of the home, with and without a running gateway, and accepts what it finds. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { acceptFindings, toAuditClient, verifyTrail } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { type Output, safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";
import { printFindings } from "./print-findings.ts";

type TrailReport = Awaited<ReturnType<typeof verifyTrail>>;

/** Options of the command. */
export interface VerifyFlags {
  readonly anchor?: string;
  /** Why the findings are accepted. */
  readonly accept?: string;
  /** File of an export, which is verified instead of the home. */
  readonly export?: string;
  readonly proof?: string;
  readonly key?: string;
}

/** Runs the command. */
export async function verifyAudit(context: CliContext, flags: VerifyFlags): Promise<ExitCode> {
  const { anchor, accept, export: exported, proof, key } = flags;
  if (exported !== undefined) {
    if (anchor !== undefined || accept !== undefined)
      throw new CliError("CLI_USAGE", "--anchor and --accept are about the trail of a home", {
        hint: "use --export with --proof and --key only",
      });
    const { verifyExported } = await import("./verify-exported.ts");
    return verifyExported(context, { file: exported, proof, key });
  }
  if (proof !== undefined || key !== undefined)
    throw new CliError("CLI_USAGE", "--proof and --key need --export", {
      hint: "toolcrib audit verify --export trail.jsonl --proof trail.proof.json --key sha256:…",
    });
  const { output, options, signal, directory } = context;
  if (accept !== undefined) return acceptAudit(context, accept, anchor);
  const anchorFile = anchor === undefined ? undefined : resolve(directory, anchor);
  const report = await verifyTrail(options.home, { anchorFile, signal });
  output.json({ isIntact: report.findings.length === 0, ...report });
  printReport(output, report);
  if (report.findings.length === 0) return exitCodes.done;
  if (anchor === undefined)
    output.note(
      asTyped(
        "when you know what happened, toolcrib audit verify --accept REASON puts these findings on record; new ones are found again",
        context,
      ),
    );
  return exitCodes.failed;
}

async function acceptAudit(
  context: CliContext,
  reason: string,
  anchor: string | undefined,
): Promise<ExitCode> {
  if (anchor !== undefined)
    throw new CliError("CLI_USAGE", "What anchors show cannot be accepted", {
      hint: "use --accept without --anchor, and start a new anchor file (audit.anchor) if the trail is to continue",
    });
  if (reason.trim() === "")
    throw new CliError("CLI_USAGE", "--accept needs a reason", {
      hint: 'toolcrib audit verify --accept "restored from the backup of Monday"',
    });
  const { output, options, signal, now } = context;
  const by = toAuditClient(localIdentity("cli", "cli"));
  const { accepted, report } = await acceptFindings(
    options.home,
    { reason, by },
    { now, randomBytes },
    { signal },
  );
  output.json({ isIntact: report.findings.length === 0, acceptedNow: accepted, ...report });
  printFindings(output, "ACCEPTED", accepted);
  if (accepted.length === 0)
    output.print(report.findings.length === 0 ? "There is nothing to accept." : "Nothing was accepted.");
  else output.print("");
  printReport(output, report, accepted.length);
  if (report.findings.length > 0)
    output.note(
      asTyped(
        "a running gateway signs its end again within a minute, which is not accepted; toolcrib audit verify shows what is left then",
        context,
      ),
    );
  return report.findings.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** @param shownCount findings that were accepted now, and are printed. @default 0 */
function printReport(output: Output, report: TrailReport, shownCount = 0): void {
  const { writers, findings, accepted, publicKey, anchors } = report;
  if (writers.length === 0) {
    printFindings(output, "FOUND", findings);
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
  printFindings(output, "FOUND", findings);
  const records = writers.reduce((sum, one) => sum + one.records, 0);
  if (findings.length === 0) output.print(`${intactText(accepted.length)}: ${counted(records, "record")}`);
  else output.print(`Not intact: ${counted(findings.length, "finding")}`);
  if (anchors !== undefined) output.print(`Anchors that match: ${anchors.matched} of ${anchors.count}`);
  for (const note of notesOf(report, shownCount)) output.prose(output.style("dim", note));
  if (publicKey !== undefined)
    output.print(output.style("dim", `Heads are signed with this key:\n${publicKey.trim()}`));
}

function intactText(acceptedCount: number): string {
  if (acceptedCount === 0) return "The chain is intact";
  return `Apart from ${counted(acceptedCount, "accepted finding")}, the chain is intact`;
}

function notesOf({ writers, accepted, unfinished }: TrailReport, shownCount: number): readonly string[] {
  const earlierCount = accepted.length - shownCount;
  const sumOf = (count: (writer: TrailReport["writers"][number]) => number) =>
    writers.reduce((sum, writer) => sum + count(writer), 0);
  const unchained = sumOf(({ unchainedRecords }) => unchainedRecords);
  const unproved = sumOf(({ lastSequence, provedSequence = 0 }) =>
    Math.max(0, lastSequence - provedSequence),
  );
  return [
    unfinished.map(
      ({ segment, line, bytes }) =>
        `Unfinished: ${safeLine(segment)}:${line} has ${counted(bytes, "byte")} of a record; a process was killed in the middle of a write, or is writing it`,
    ),
    earlierCount <= 0 ? [] : `Accepted earlier, and not shown: ${counted(earlierCount, "finding")} (--json)`,
    unchained === 0
      ? []
      : `Not part of the chain: ${counted(unchained, "record")} that an earlier version wrote before it`,
    unproved === 0
      ? []
      : `Not signed yet: the last ${counted(unproved, "record")}; if they were changed or cut off, nothing shows it`,
  ].flat();
}
