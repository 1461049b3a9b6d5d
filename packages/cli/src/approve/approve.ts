/**
 * `toolcrib approve`: shows what waits for the operator, and records the decision. Few definitions of a
 * server are shown completely: a model reads every text of them. Of many, a summary names each, and those
 * that changed or are suspicious are shown completely. An approval is bound to the digest of all of them.
 */

import { randomBytes } from "node:crypto";
import type { PendingCall, WaitingApprovals, WaitingDefinitions } from "@toolcrib/admission";
import { didYouMean, isCodedError } from "@toolcrib/diagnostics";
import { CallApprovals } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { type Output, safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { type CallApprovalFacts, printCallApprovals, toolsWithCallApproval } from "./call-approvals.ts";
import { type ApprovalAccess, callIdStart, openApprovals, type StartingSource } from "./open-approvals.ts";
import { printArguments, printSteps, printWholeArguments } from "./print-arguments.ts";
import { countedOf, isLong, printDefinition, printSummary } from "./print-definition.ts";

/** Most servers that the command of a list names. */
const namedMaxCount = 8;

/** Options of the command. */
export interface ApproveFlags {
  readonly tool?: readonly string[];
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly full?: boolean;
  /** Digest of the definitions that an earlier run showed. @default those that wait now */
  readonly digest?: string;
}

/** Runs the command. @param ids of servers, packages and calls, which are decided about one after the other */
export async function approveEach(
  context: CliContext,
  ids: readonly string[],
  flags: ApproveFlags,
): Promise<ExitCode> {
  const [first, ...others] = ids;
  if (others.length === 0) return await approve(context, first, flags);
  for (const id of ids) checkFlags(id, flags);
  const single = flags.tool !== undefined ? "--tool" : flags.digest !== undefined ? "--digest" : undefined;
  if (single !== undefined || context.options.isJson) {
    const message = `Nothing was approved: ${single ?? "--json"} is for one server, package or call at a time`;
    throw new CliError("CLI_USAGE", message);
  }
  let code: ExitCode = exitCodes.done;
  for (const [at, id] of ids.entries()) {
    context.output.print(...(at === 0 ? [] : [""]), context.output.style("bold", safeLine(id)));
    const ended = await approve(context, id, flags);
    if (ended !== exitCodes.done) code = ended;
  }
  return code;
}

/** Decides about one. @param what id of a server, a package or a call. @default lists what waits */
export async function approve(
  context: CliContext,
  what: string | undefined,
  flags: ApproveFlags,
): Promise<ExitCode> {
  checkFlags(what, flags);
  await using access = await openApprovals(context, what);
  if (what === undefined) {
    // Asked first: what a server offers that gets ready in between waits in the answer to the second question.
    const starting = await access.starting();
    return listWaiting(context, await access.waiting(), starting);
  }
  if (what.startsWith(callIdStart)) return await decideCall(context, access, what, flags);
  return await approveDefinitions(context, access, await access.definitions(what), flags);
}

function checkFlags(what: string | undefined, { tool, deny, yes, full, digest }: ApproveFlags): void {
  const isCall = what?.startsWith(callIdStart) === true;
  const misused =
    (isCall || what === undefined) && tool !== undefined
      ? "--tool chooses definitions of a server or package: name it"
      : what === undefined && (yes === true || deny === true)
        ? "name the server, the package or the call to decide about"
        : !isCall && deny === true
          ? "--deny is for calls: tools that are not approved are not offered"
          : what === undefined && full === true
            ? "--full shows all of a server, a package or a call: name it"
            : (isCall || what === undefined) && digest !== undefined
              ? "--digest is that of definitions of a server or package: name it"
              : undefined;
  if (misused !== undefined) throw new CliError("CLI_USAGE", `Nothing was approved: ${misused}`);
}

function listWaiting(
  context: CliContext,
  { servers, calls: waiting }: WaitingApprovals,
  allStarting: readonly StartingSource[],
): ExitCode {
  const { output } = context;
  const starting = allStarting.filter(({ id }) => servers.every(({ server }) => server !== id));
  output.json({ servers, calls: waiting, starting: starting.map(({ id }) => id) });
  const calls = waiting.filter(({ outdated }) => outdated === undefined);
  if (servers.length === 0 && calls.length === 0) {
    const yet = starting.length === 0 ? "" : " yet";
    output.print(`Nothing${waiting.length === 0 ? "" : " else"} waits for approval${yet}`);
  }
  if (servers.length > 0) {
    output.table(
      [{ title: "SERVER OR PACKAGE" }, { title: "NEW" }, { title: "CHANGED" }, { title: "OF WHAT" }],
      servers.map(({ server, new: added, changed, what }) => [
        safeLine(server),
        String(added),
        String(changed),
        what === "tools" ? "tools" : "tools, prompts, resources or instructions",
      ]),
    );
    const named = servers.slice(0, namedMaxCount).map(({ server }) => safeLine(server));
    output.prose("", `See and approve them: ${ownCommand(context)} approve ${named.join(" ")}`);
  }
  if (servers.length > 0 && calls.length > 0) output.print("");
  if (calls.length > 0) {
    output.table(
      [
        { title: "CALL" },
        { title: "CLIENT" },
        { title: "TOOL" },
        { title: "WAITS" },
        { title: "ARGUMENTS", canShrink: true },
      ],
      calls.map((call) => callRow(call, context.now())),
    );
    output.prose(
      "",
      `Approve exactly one of them, once (--deny refuses it): ${ownCommand(context)} approve ${calls[0]?.id ?? ""}`,
    );
  }
  const outdated = waiting.filter((call) => call.outdated !== undefined);
  if (outdated.length > 0) output.print("");
  for (const call of outdated) output.prose(outdatedLine(output, call));
  printStarting(context, starting);
  return exitCodes.done;
}

/** Names the servers whose definitions can still come. */
function printStarting(context: CliContext, starting: readonly StartingSource[]): void {
  if (starting.length === 0) return;
  const { output } = context;
  const they = starting.length === 1 ? "it offers" : "they offer";
  output.prose(
    "",
    `Still starting, so that what ${they} is not known (${ownCommand(context)} status --watch)`,
  );
  for (const { id, step } of starting)
    output.prose(`  ${output.style("yellow", "…")} ${safeLine(id)}${step === "starting" ? "" : `: ${step}`}`);
}

/** Returns the line of a call whose approval would not count. */
export function outdatedLine(output: Output, { id, client, tool, outdated = "" }: PendingCall): string {
  return `${output.style("dim", "cannot be approved any more")} ${safeLine(id)}: ${safeLine(client.name)} wanted to call ${safeLine(tool)}, and ${safeLine(outdated)}`;
}

function callRow({ id, client, tool, requestedAt, ...call }: PendingCall, now: number): string[] {
  const minutes = Math.max(0, Math.floor((now - requestedAt) / 60_000));
  return [
    id,
    safeLine(client.name),
    safeLine(tool),
    minutes === 0 ? "now" : `${minutes} min`,
    safeLine(JSON.stringify(call.arguments)),
  ];
}

async function decideCall(
  context: CliContext,
  access: ApprovalAccess,
  id: string,
  { deny, yes, full }: ApproveFlags,
): Promise<ExitCode> {
  const { output } = context;
  const isDenied = deny === true;
  const call =
    full === true ? await access.call(id) : (await access.waiting()).calls.find((one) => one.id === id);
  // A denial also ends an approval, used or not: such a call does not wait.
  if (call === undefined && !isDenied) throw await callNotFound(context, id);
  if (call !== undefined && !isDenied) {
    printCall(output, call, full === true);
    if (call.outdated !== undefined) throw callOutdated(call, call.outdated);
    const isShown = !call.isPartial;
    if (!isShown || (yes !== true && !(await ask(context, "Approve exactly this call, once?")))) {
      output.json({ id, tool: call.tool, ...shownOf(call) });
      return isShown ? notApproved(context) : notShown(context, id);
    }
  }
  const decided = await access.decide(id, isDenied ? "deny" : "approve");
  if (decided === undefined) throw await callNotFound(context, id);
  const { tool, isUsed = false } = decided;
  const shown = isDenied || call === undefined ? {} : shownOf(call);
  const used = isDenied && isUsed ? { isUsed } : {};
  output.json({ id, tool, ...shown, decision: isDenied ? "denied" : "approved", ...used });
  output.prose(
    isDenied
      ? `Denied for 10 minutes: ${safeLine(tool)} with these arguments${isUsed ? ". A call has already used the approval: where it has begun, it is not stopped" : ""}`
      : `Approved for one call within 10 minutes: ${safeLine(tool)} with these arguments. Its client has to repeat the call`,
  );
  return exitCodes.done;
}

function printCall(output: Output, call: PendingCall, isWhole: boolean): void {
  output.prose(`${output.style("bold", safeLine(call.tool))} for ${safeLine(call.client.name)}`);
  if (isWhole) printWholeArguments(output, call.arguments);
  else printArguments(output, call.arguments);
  if (call.steps !== undefined) printSteps(output, call.steps, isWhole);
  output.print("");
}

function shownOf({ arguments: args, steps, isPartial }: PendingCall): Omit<Shown, "id"> {
  return { arguments: args, ...(steps === undefined ? {} : { steps }), isPartial };
}

type Shown = Pick<PendingCall, "id" | "arguments" | "steps" | "isPartial">;

/** Nobody approves what is not shown. */
function notShown(context: CliContext, id: string): ExitCode {
  noteWrapped(
    context,
    `Nothing was approved: parts of the arguments are not shown. See all of them: ${ownCommand(context)} approve ${id} --full`,
  );
  return exitCodes.failed;
}

function callOutdated({ id }: PendingCall, reason: string): CliError {
  return new CliError(
    "CLI_APPROVAL_OUTDATED",
    `Nothing was approved: an approval of "${safeLine(id)}" would not count, because ${safeLine(reason)}`,
    { hint: "the client can make the call again; if it needs an approval then, it waits under another id" },
  );
}

/** The error about a call that does not wait, with what was decided about it where that still counts. */
async function callNotFound({ options, now }: CliContext, id: string): Promise<CliError> {
  const approvals = new CallApprovals(options.home, { now, randomBytes });
  const decided = (await approvals.list()).find((one) => one.id === id && one.state !== "pending");
  const message = `No call with the id "${safeLine(id)}" waits for approval`;
  if (decided === undefined) {
    return new CliError("CLI_APPROVAL_NOT_FOUND", message, {
      hint: "toolcrib approve lists those that wait; a call waits for an hour",
    });
  }
  const { state, expiresAt } = decided;
  const until = new Date(expiresAt).toISOString();
  const [what, hint] =
    state === "denied"
      ? [`it is denied until ${until}`, "its client can make the call again then, and it waits again"]
      : state === "approved"
        ? [
            `it is approved until ${until}`,
            "its client can make the call, unless its definition or the policy changed; --deny ends the approval",
          ]
        : ["a call has used its approval", "the next such call waits again, unless it continues that call"];
  return new CliError("CLI_APPROVAL_NOT_FOUND", `${message}: ${what}`, { hint });
}

async function approveDefinitions(
  context: CliContext,
  access: ApprovalAccess,
  shown: WaitingDefinitions,
  { tool: names, yes, full, digest }: ApproveFlags,
): Promise<ExitCode> {
  const { output } = context;
  if (digest !== undefined && digest !== shown.digest) throw outdated(shown.server);
  const chosen = shown.definitions.filter(({ name }) => names === undefined || names.includes(name));
  const missing = names?.find((one) => !chosen.some(({ name }) => name === one));
  if (missing !== undefined) {
    const waiting = shown.definitions.map(({ name }) => name);
    throw new CliError(
      "CLI_APPROVAL_NOT_FOUND",
      `No tool or other definition "${safeLine(missing)}" of "${shown.server}" waits`,
      {
        hint:
          didYouMean(missing, waiting) ?? `those that wait are ${waiting.map(safeLine).join(", ") || "none"}`,
      },
    );
  }
  if (chosen.length === 0) {
    output.json({ server: shown.server, definitions: [], approved: [] });
    output.prose(`No tool or other definition of ${safeLine(shown.server)} waits for approval`);
    return exitCodes.done;
  }
  const isSummary = full !== true && names === undefined && isLong(chosen);
  if (isSummary)
    printSummary(output, shown.server, chosen, `${ownCommand(context)} approve ${safeLine(shown.server)}`);
  else for (const definition of chosen) printDefinition(output, definition);
  const isApproved =
    yes === true || (await ask(context, `Approve ${countedOf(chosen)} of ${safeLine(shown.server)}?`));
  const approved = isApproved ? await access.approve(shown, names) : [];
  const asked =
    approved.length === 0 ? [] : toolsWithCallApproval(shown.server, approved, await callFacts(access));
  output.json({
    server: shown.server,
    digest: shown.digest,
    definitions: chosen,
    approved,
    callsNeedApproval: asked,
  });
  if (!isApproved) {
    const exact = [
      "approve",
      safeLine(shown.server),
      ...(names ?? []).flatMap((name) => ["--tool", safeLine(name)]),
    ];
    return notApproved(context, `${exact.join(" ")} --yes --digest ${shown.digest}`);
  }
  output.prose(`Approved ${countedOf(chosen, approved.length)} of ${safeLine(shown.server)}`);
  printCallApprovals(context, shown.server, asked, approved.length);
  return exitCodes.done;
}

/** Returns what decides about approvals of calls; nothing where that cannot be read: the definitions are approved then. */
export async function callFacts(access: Pick<ApprovalAccess, "callFacts">): Promise<CallApprovalFacts> {
  try {
    return await access.callFacts();
  } catch (error) {
    if (isCodedError(error)) return {};
    throw error;
  }
}

/** @param exact arguments of the command that approves exactly what is shown */
function notApproved(context: CliContext, exact?: string): ExitCode {
  const isAsked = canAsk(context) && !context.output.isJson;
  const how = exact === undefined ? "" : `, and nothing else: ${ownCommand(context)} ${exact}`;
  noteWrapped(
    context,
    isAsked ? "Nothing was approved" : `Nothing was approved: add --yes to approve what is shown above${how}`,
  );
  return exitCodes.failed;
}

function outdated(server: string): CliError {
  return new CliError(
    "CLI_APPROVAL_OUTDATED",
    `Nothing was approved: other definitions of "${safeLine(server)}" wait than those of --digest`,
    { hint: "look at them again, then approve them" },
  );
}

async function ask(context: CliContext, question: string): Promise<boolean> {
  if (!canAsk(context) || context.output.isJson) return false;
  return /^y(?:es)?$/i.test(await askLine(`${question} [y/N] `, context));
}
