/** `toolcrib saved list|show|delete|approve`: manages the saved tools of this home. */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import { approveStoredTool, parseTestCases, retainApproval, storedStanding } from "@toolcrib/metatool";
import { type ApprovalStore, type SavedTool, type SavedToolEvent, toAuditClient } from "@toolcrib/store";
import { type Identity, isOperator, issuerName } from "@toolcrib/tool";
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
        `${standingNote(storedStanding(tool, approvals), " ")}${firstSentence(tool.description)}`,
      ]),
    );
  }
  const diagnostics = saved.diagnostics();
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
  return exitCodes.done;
}

function toSummary(tool: SavedTool, approvals: ApprovalStore): object {
  const { name, description, inputSchema, metadata } = tool;
  const { needsApproval, isApproved, owner } = storedStanding(tool, approvals);
  return { name, description, ...metadata, inputSchema, needsApproval, isApproved, owner: toOwner(owner) };
}

/** Owner, reach and approval of a tool. */
type StoredStanding = ReturnType<typeof storedStanding>;

function toOwner(owner: Identity | undefined): object | undefined {
  if (owner === undefined) return undefined;
  const { issuer, subject, name } = owner;
  return { issuer, subject, name };
}

/** Returns a remark about a tool that is not approved, before `separator`; empty for other tools. */
function standingNote({ needsApproval, isApproved }: StoredStanding, separator: string): string {
  if (needsApproval) return `(needs approval)${separator}`;
  return isApproved ? "" : `(not approved)${separator}`;
}

function ownerText({ owner, isApproved }: StoredStanding): string {
  if (owner === undefined || isOperator(owner)) return "the operator";
  const name = `${safeLine(owner.name)} (${safeLine(issuerName(owner))})`;
  return isApproved
    ? name
    : `${name}; runs with its permissions and those of the caller until it is approved`;
}

/** Runs `saved show`. */
export async function showSaved(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  const tool = await requireSaved(context, saved, name);
  const standing = storedStanding(tool, approvals);
  const { reach, needsApproval, isApproved, owner } = standing;
  const { value: tests, diagnostics } = parseTestCases(tool.toolcrib);
  const { toolcrib: _kept, ...definition } = tool;
  const facts = { reach, needsApproval, isApproved, owner: toOwner(owner) };
  output.json({ version: "1.0", ...definition, ...facts, tests });
  const label = (text: string) => output.style("dim", text);
  const { executionCount, lastExecuted, created, modified } = tool.metadata;
  const last = lastExecuted === undefined ? "" : `, last ${lastExecuted}`;
  output.print(
    `${output.style(["bold", "cyan"], safeLine(name))}  ${standingNote(standing, "")}`.trimEnd(),
    safeText(tool.description.trim()),
    "",
    `${label("calls")}     ${callsText(reach)}`,
    `${label("owner")}     ${ownerText(standing)}`,
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
  if (needsApproval || !isApproved) {
    const command = `toolcrib${context.options.homeFlag} saved approve ${safeLine(name)} --modified ${modified}`;
    output.print("", `Approve exactly this version: ${command}`);
  }
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
  return exitCodes.done;
}

/** Returns the member `owner` of an audit event. */
function auditOwner(owner: Identity | undefined): Pick<SavedToolEvent, "owner"> {
  return owner === undefined ? {} : { owner: toAuditClient(owner) };
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
  const tool = await requireSaved(context, saved, name);
  await saved.delete(name);
  await retainApproval({ approvals, now: context.now }, tool);
  const { codeDigest, owner } = storedStanding(tool, approvals);
  const event = { tool: `saved:${name}`, ...auditOwner(owner), codeDigest, reach: [] };
  await recordForAudit(context, "tool.deleted", event);
  output.json({ name, deleted: true });
  output.print(`Deleted ${safeLine(name)}.`);
  return exitCodes.done;
}

/** Options of `saved approve`. */
export interface ApproveFlags {
  readonly modified?: string;
}

/** Runs `saved approve`. */
export async function approveSaved(
  context: CliContext,
  name: string,
  { modified }: ApproveFlags,
): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  await requireSaved(context, saved, name);
  const deps = { saved, approvals, now: context.now };
  const { before } = await approveStoredTool(deps, name, { expectedModified: modified });
  const { codeDigest, reach = ["*"], owner } = before;
  const isChange = before.needsApproval || !before.isApproved;
  if (isChange) {
    const event = { tool: `saved:${name}`, ...auditOwner(owner), codeDigest, reach };
    await recordForAudit(context, "approval.granted", event);
  }
  output.json({ name, approved: true, changed: isChange, reach: before.reach });
  const calls = before.reach === undefined ? "the tools that its program names" : callsText(before.reach);
  output.print(
    isChange
      ? `Approved ${safeLine(name)}: it may call ${calls}, with the permissions of its caller.`
      : `${safeLine(name)} needs no approval.`,
  );
  return exitCodes.done;
}
