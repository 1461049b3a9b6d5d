/** `toolcrib saved list|show|delete|approve`: manages the saved tools of this home. */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import { approveStoredTool, parseTestCases, retainApproval, storedStanding } from "@toolcrib/metatool";
import type { ApprovalStore, SavedTool } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine, safeText } from "../output/output.ts";
import { firstSentence } from "../tools/list-tools.ts";
import { openApprovals, openSaved, recordForAudit, requireSaved } from "./open-saved.ts";

/** Runs `saved list`. */
export async function listSaved(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  const tools = await saved.list();
  output.json(tools.map((tool) => toSummary(tool, approvals)));
  if (tools.length === 0) output.print("No saved tools.");
  else {
    output.table(
      [
        { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
        { title: "RUNS" },
        { title: "TESTS" },
        { title: "DESCRIPTION", canShrink: true },
      ],
      tools.map((tool) => [
        tool.name,
        String(tool.metadata.executionCount),
        String(parseTestCases(tool.toolcrib).value.length),
        `${storedStanding(tool, approvals).needsApproval ? "(needs approval) " : ""}${firstSentence(tool.description)}`,
      ]),
    );
  }
  const diagnostics = saved.diagnostics();
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
  return exitCodes.done;
}

function toSummary(tool: SavedTool, approvals: ApprovalStore): object {
  const { name, description, inputSchema, metadata } = tool;
  const { needsApproval } = storedStanding(tool, approvals);
  return { name, description, ...metadata, inputSchema, needsApproval };
}

/** Runs `saved show`. */
export async function showSaved(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  const tool = await requireSaved(saved, name);
  const { reach, needsApproval } = storedStanding(tool, approvals);
  const { value: tests, diagnostics } = parseTestCases(tool.toolcrib);
  const { toolcrib: _kept, ...definition } = tool;
  output.json({ version: "1.0", ...definition, reach, needsApproval, tests });
  const label = (text: string) => output.style("dim", text);
  const { executionCount, lastExecuted, created, modified } = tool.metadata;
  const last = lastExecuted === undefined ? "" : `, last ${lastExecuted}`;
  output.print(
    `${output.style(["bold", "cyan"], safeLine(name))}${needsApproval ? "  (needs approval)" : ""}`,
    safeText(tool.description.trim()),
    "",
    `${label("calls")}     ${callsText(reach)}`,
    `${label("created")}   ${created}`,
    `${label("modified")}  ${modified}`,
    `${label("runs")}      ${executionCount}${last}`,
    `${label("tests")}     ${tests.map((one) => safeLine(one.name)).join(", ") || "none"}`,
    "",
    label("input schema"),
    safeText(JSON.stringify(tool.inputSchema, undefined, 2)),
    "",
    label("program"),
    safeText(tool.code.trimEnd()),
  );
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
  return exitCodes.done;
}

function callsText(reach: readonly string[] | undefined): string {
  if (reach === undefined) return "not known yet";
  if (reach.length === 0) return "no tool";
  return reach.map((id) => (id === "*" ? "any tool" : safeLine(id))).join(", ");
}

/** Runs `saved delete`. */
export async function deleteSaved(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  const tool = await requireSaved(saved, name);
  await saved.delete(name);
  await retainApproval({ approvals, now: context.now }, tool);
  const { codeDigest } = storedStanding(tool, approvals);
  await recordForAudit(context, "tool.deleted", { tool: `saved:${name}`, codeDigest, reach: [] });
  output.json({ name, deleted: true });
  output.print(`Deleted ${safeLine(name)}.`);
  return exitCodes.done;
}

/** Runs `saved approve`. */
export async function approveSaved(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  await requireSaved(saved, name);
  const { before } = await approveStoredTool({ saved, approvals, now: context.now }, name);
  const { codeDigest, reach = ["*"], needsApproval } = before;
  if (needsApproval) {
    await recordForAudit(context, "approval.granted", { tool: `saved:${name}`, codeDigest, reach });
  }
  output.json({ name, approved: true, changed: needsApproval, reach: before.reach });
  output.print(
    needsApproval
      ? `Approved ${safeLine(name)}: it may call ${before.reach === undefined ? "the tools that its program names" : callsText(before.reach)}.`
      : `${safeLine(name)} needs no approval.`,
  );
  return exitCodes.done;
}
