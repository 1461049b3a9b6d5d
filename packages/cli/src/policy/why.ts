/**
 * `toolcrib why`: explains what the policy decides about a tool, resource or prompt
 * for a client, or about a call of the audit trail. A recorded call is explained by
 * the policy as it is now, with the arguments as far as they were recorded.
 */

import { randomBytes } from "node:crypto";
import { type OfflinePolicy, openOfflinePolicy } from "@toolcrib/cedar";
import { CodedError, didYouMean } from "@toolcrib/diagnostics";
import { describePause } from "@toolcrib/guards";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Decision, type PolicyRequest, type PolicyTarget, ToolPatterns } from "@toolcrib/policy";
import { type AuditCall, jsonDigest, SeenLabels } from "@toolcrib/store";
import { type Identity, identityKey, isOperator } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type FoundPauses, findPauses, unknownPausesLine } from "../guards/open-pauses.ts";
import { pauseWords } from "../guards/pause.ts";
import { reasonLine, safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { asTyped } from "../serve/source-table.ts";
import { parseArguments } from "../tools/call-arguments.ts";
import { didYouMeanTool, suggestTools } from "../tools/tool-names.ts";
import {
  type ApprovableCall,
  type AskedCall,
  approvalLines,
  findApprovals,
  findAskedCall,
  type KnownApprovals,
} from "./asked-call.ts";
import { clientIdentity, warnAboutUnknownClients } from "./client-identity.ts";
import { explainRequest, explanationLines } from "./explain-request.ts";
import {
  findRenamed,
  findTarget,
  isNameOf,
  type LimitQuestion,
  openPolicySituation,
  originLine,
  type PolicySituation,
} from "./open-targets.ts";

/** Flags of the command. */
export interface WhyFlags {
  readonly client?: string;
  readonly args?: string;
  readonly list?: boolean;
  /** Whether the policy is that of the files, also where a gateway runs. */
  readonly onDisk?: boolean;
}

/** Runs the command. */
export async function explainWhy(context: CliContext, what: string, flags: WhyFlags): Promise<ExitCode> {
  const asked = await findAskedCall(context, what, flags.client);
  const about = asked === undefined ? what : toolOf(asked);
  const requestIn = async (found: Pick<PolicySituation, "policy" | "targets">) =>
    asked === undefined
      ? requestOf(context, await ownNameOf(context, what, found), flags, found)
      : askedRequest(context, asked, found);
  const situation = await openPolicySituation(context, {
    onDisk: flags.onDisk,
    about,
    limitQuestion: async (found) => questionOf(await requestIn(found)),
  });
  using policy = await openOfflinePolicy(situation.policy);
  if (flags.client !== undefined) warnAboutUnknownClients(context, situation, [flags.client]);
  const known = await requestIn(situation);
  if (known === undefined) throw unknownTarget(situation, about ?? what);
  const request = await withSeenLabels(context, known);
  const explanation = await explainRequest(policy, request);
  const { output } = context;
  const { decision, policies, unmetForbids, change } = explanation;
  const { identity, action, target } = request;
  const recorded = asked?.recorded && recordOf(asked.recorded);
  const { id, wireName, server } = target;
  const isCall = action === "call" && decision.kind === "allow";
  const paused = { id, wireName, server: server.id, identity };
  const pauses: FoundPauses | undefined = isCall ? await findPauses(context, situation.policy) : undefined;
  const pause = pauses?.pauses?.find(paused, context.now());
  const limit = isCall ? situation.limit : undefined;
  const block = action === "call" ? situation.blocked?.find((one) => one.id === id) : undefined;
  const approvals = isCall
    ? await findApprovals(context, approvableOf(request, asked, flags), situation.approval)
    : undefined;
  const needsApproval = isCall && needsOwnApproval(request, decision, situation.policy.waiveApproval);
  const isAsked = needsApproval || isAskedForSteps(approvals?.known);
  const decided = isAsked ? approvals?.known?.decided : undefined;
  output.json({
    client: { issuer: identity.issuer, subject: identity.subject, name: identity.name },
    action,
    target: target.id,
    decision,
    policies,
    unmetForbids,
    policy: situation.origin,
    ...(change === undefined ? {} : { change }),
    ...(block === undefined
      ? {}
      : { blocked: { code: block.code, rule: block.rule, reason: block.reason, change: block.change } }),
    ...(pause === undefined
      ? {}
      : { paused: { kind: pause.kind, name: pause.name, ...(pause.reason && { reason: pause.reason }) } }),
    ...(pauses?.problem === undefined ? {} : { pausesProblem: pauses.problem.message }),
    ...(limit === undefined ? {} : { limit }),
    ...(approvals?.known === undefined ? {} : { waiting: waitingIds(approvals.known) }),
    ...(decided === undefined
      ? {}
      : {
          approval: {
            id: decided.id,
            state: decided.state,
            expiresAt: new Date(decided.expiresAt).toISOString(),
          },
        }),
    ...(approvals?.problem === undefined ? {} : { approvalsProblem: approvals.problem.message }),
    ...(recorded === undefined ? {} : { recorded: recordedFacts(recorded) }),
  });
  output.print(output.style("bold", safeLine(`"${identity.name}" ${action} "${target.id}"`)));
  if (recorded !== undefined) output.prose(...recordedLines(recorded), "", "With the policy as it is now:");
  // What a policy file says stays as it is there.
  const typed = (line: string) => (line.startsWith("  ") ? line : asTyped(line, context));
  output.prose(...explanationLines(explanation).map(typed));
  if (block !== undefined) {
    const text = isCall ? "But no call is made" : "No call would be made, if the policy allowed it";
    output.prose("", safeLine(`${text} (${block.rule}): ${block.reason}`));
    output.prose(safeLine(`To allow it, set for the server: ${block.change}`));
  }
  output.prose(
    ...furtherLines(policy, request, decision, {
      needsApproval,
      flags,
      isRecorded: asked !== undefined,
      knowsBlocks: situation.blocked !== undefined,
      knowsLimits: limit !== undefined,
    }).map(typed),
  );
  if (approvals !== undefined) {
    const shown = approvals.known === undefined ? approvals : { known: { ...approvals.known, decided } };
    output.prose(...approvalLines(context, shown).map(safeLine));
  }
  if (limit !== undefined && limit !== null) {
    const { code, message, hint } = limit;
    output.prose("", safeLine(`But a limit refuses it now (${code}): ${message}`));
    if (hint !== undefined) output.prose(typed(safeLine(hint)));
  }
  if (pause !== undefined) {
    const { kind, name, expiresAt, reason } = pause;
    const end = expiresAt === undefined ? "" : ` until ${new Date(expiresAt).toISOString()}`;
    const why = reason === undefined ? "" : `: ${reason}`;
    output.prose(
      "",
      safeLine(`But ${describePause(pause)} is paused${end}, so that the call is refused${why}`),
    );
    output.print(`Resume it: ${ownCommand(context)} resume ${pauseWords({ kind, name })}`);
  }
  if (pauses?.problem !== undefined) output.prose("", unknownPausesLine(context, pauses.problem));
  output.prose("", originLine(situation.origin));
  const isUnapproved = isAsked && !isOperator(identity) && decided?.state !== "approved";
  const isHindered =
    isUnapproved || pause !== undefined || pauses?.problem !== undefined || (limit ?? null) !== null;
  const isStopped = isHindered && (recorded === undefined || !recorded.isMade);
  const isRefused = decision.kind === "deny" || block !== undefined || isStopped;
  return isRefused ? exitCodes.denied : exitCodes.done;
}

/** Returns the id of the tool of a call. */
function toolOf({ recorded, waiting }: AskedCall): string | undefined {
  return waiting?.tool ?? (recorded?.intent?.data ?? recorded?.completion?.data)?.tool;
}

function questionOf(request: PolicyRequest | undefined): LimitQuestion | undefined {
  if (request === undefined || request.action !== "call") return undefined;
  return { target: request.target.id, identity: request.identity };
}

/** Returns the call as approvals know it: with the digest of its arguments, where these are known. */
function approvableOf(
  { target, identity, call }: PolicyRequest,
  asked: AskedCall | undefined,
  { client, args }: WhyFlags,
): ApprovableCall {
  const { recorded, waiting } = asked ?? {};
  const tool = target.id;
  if (waiting !== undefined) {
    const { id, argumentsDigest } = waiting;
    return { tool, client: identity, argumentsDigest, approval: id };
  }
  if (recorded !== undefined) {
    const { argumentsDigest, approval } = recorded.intent?.data ?? deniedData(recorded) ?? {};
    return { tool, client: identity, argumentsDigest, approval };
  }
  // Without --client, the question is about the tool: the operator's own calls never wait.
  const of = client === undefined ? undefined : identity;
  return { tool, client: of, argumentsDigest: args === undefined ? undefined : jsonDigest(call?.args ?? {}) };
}

function deniedData({
  completion,
}: AuditCall): { readonly argumentsDigest?: string; readonly approval?: string } | undefined {
  return completion?.type === "call.denied" ? (completion.data as ReturnType<typeof deniedData>) : undefined;
}

function waitingIds({ exact, others }: KnownApprovals): readonly object[] {
  const shown = ({ id, client, outdated }: KnownApprovals["exact"][number], isExact: boolean) => ({
    approval: id,
    client: client.name,
    isExact,
    ...(outdated === undefined ? {} : { outdated }),
  });
  return [...exact.map((one) => shown(one, true)), ...others.map((one) => shown(one, false))];
}

/** Lines about approvals besides the policy, and about arguments that are not known. */
function furtherLines(
  policy: OfflinePolicy,
  request: PolicyRequest,
  decision: Decision,
  {
    needsApproval,
    flags,
    isRecorded,
    knowsBlocks,
    knowsLimits,
  }: {
    readonly needsApproval: boolean;
    readonly flags: WhyFlags;
    readonly isRecorded: boolean;
    /** Whether a block by mutability or containment is known, and shown. */
    readonly knowsBlocks: boolean;
    /** Whether it is known, and shown, that a limit would refuse the call now. */
    readonly knowsLimits: boolean;
  },
): readonly string[] {
  if (decision.kind === "deny" || request.action !== "call") return [];
  const { identity } = request;
  const checked = knowsLimits ? "Hooks are" : "Limits, windows of time and hooks are";
  const lines = [
    knowsBlocks
      ? `${checked} checked at each call`
      : "This is the decision of the policy alone: the mutability and containment that the operator declared for the server, limits, windows of time and hooks are checked at each call",
  ];
  const { seenLabels = [] } = request.call ?? {};
  if (seenLabels.length > 0)
    lines.push(
      `It counts the labels of the data that the client has received: ${safeLine(seenLabels.join(", "))}`,
    );
  if (flags.args === undefined && policy.dependsOnArguments(request)) {
    lines.push(
      isRecorded
        ? "A policy about this call reads arguments, which are recorded without credentials and long texts"
        : "A policy about this call reads arguments: give them with --args",
    );
  }
  if (needsApproval) {
    if (!isOperator(identity))
      lines.push(
        "Each call also needs an approval of the operator, because the server is unverified (toolcrib approve)",
      );
    else if (flags.client === undefined && !isRecorded)
      lines.push(
        "Each call of a client needs an approval, because the server is unverified; your own calls need none (--client NAME shows the decision for a client)",
      );
  }
  return ["", ...lines];
}

/** Whether exactly the call waits, or was denied, because of calls that its steps make: its own tool may need no approval. */
function isAskedForSteps(known: KnownApprovals | undefined): boolean {
  const { exact = [], decided } = known ?? {};
  return [...exact.filter(({ outdated }) => outdated === undefined), ...(decided ? [decided] : [])].some(
    ({ stepsDigest }) => stepsDigest !== undefined,
  );
}

/** Whether each call of a client needs an approval of its own. @param waived patterns of tools whose calls need none */
function needsOwnApproval(
  { target }: PolicyRequest,
  { waivesApproval }: Extract<Decision, { readonly kind: "allow" }>,
  waived: readonly string[],
): boolean {
  const isWaived =
    waivesApproval === true || new ToolPatterns(waived).find(target.id, target.wireName) !== undefined;
  return (
    target.kind === "tool" && target.server.trustState === "unverified" && !target.isReadOnly && !isWaived
  );
}

/** Adds the labels of the data that the client has received by now, as the gateway does at a call. */
async function withSeenLabels(context: CliContext, request: PolicyRequest): Promise<PolicyRequest> {
  const { call, identity } = request;
  if (call === undefined) return request;
  const { options, now } = context;
  const seen = new SeenLabels(options.home, { known: [], now, randomBytes });
  const own = (await seen.list()).find(({ client }) => identityKey(client) === identityKey(identity));
  const all = (await seen.hasSeenAll(identity))
    ? (await loadConfigOrDefaults(context)).config.dataLabels
    : [];
  const seenLabels = [...new Set([...all, ...(own?.labels.map(({ label }) => label) ?? [])])].sort();
  return { ...request, call: { ...call, seenLabels } };
}

/** A call as the audit trail has it. */
interface RecordedCall {
  readonly callId: string;
  readonly outcome: string;
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  /** Whether its tool was called: it had its approval then, and no limit refused it. */
  readonly isMade: boolean;
}

function recordOf({ callId, intent, completion }: AuditCall): RecordedCall {
  const data = (completion?.data ?? {}) as {
    readonly outcome?: string;
    readonly rule?: string;
    readonly reason?: string;
    readonly error?: { readonly code?: string; readonly message?: string };
  };
  const isDenied = completion?.type === "call.denied";
  return {
    callId,
    // What decides about it can have changed while it waited.
    isMade: !isDenied && data.error?.code !== "TOOL_CHANGED",
    outcome: isDenied ? "denied" : (data.outcome ?? "running"),
    rule: intent?.data.rule ?? data.rule,
    reason: data.reason ?? data.error?.message,
  };
}

function recordedFacts({ callId, outcome, rule, reason }: RecordedCall): object {
  return { callId, outcome, rule, reason };
}

function recordedLines({ callId, outcome, rule, reason }: RecordedCall): readonly string[] {
  const lines = [`call ${callId}: ${outcome}${rule === undefined ? "" : ` (${rule})`}`];
  if (reason !== undefined) lines.push(reason);
  return lines.map(safeLine);
}

/** Returns the id of a tool that the configuration gave another name; any other name as it is. */
async function ownNameOf(
  context: CliContext,
  name: string,
  { targets }: Pick<PolicySituation, "targets">,
): Promise<string> {
  if (findTarget(targets, name) !== undefined) return name;
  return (await findRenamed(context, targets, name))?.id ?? name;
}

function requestOf(
  context: CliContext,
  name: string,
  { client = "cli", args, list }: WhyFlags,
  situation: Pick<PolicySituation, "policy" | "targets">,
): PolicyRequest | undefined {
  const target = findTarget(situation.targets, name);
  if (target === undefined) return undefined;
  const identity = clientIdentity(situation, client);
  if (list === true) return { identity, action: "list", target };
  const given = args === undefined ? {} : parseArguments(args, "--args", "--args");
  return callRequest({ identity, target, args: given, depth: 0 }, context.now());
}

function askedRequest(
  context: CliContext,
  { recorded, waiting }: AskedCall,
  { targets }: Pick<PolicySituation, "targets">,
): PolicyRequest | undefined {
  const data = recorded?.intent?.data ?? recorded?.completion?.data;
  const { client, tool, depth, preview } = (data ?? {
    ...waiting,
    depth: 0,
    preview: waiting?.arguments,
  }) as {
    readonly client: { readonly issuer?: string; readonly subject?: string; readonly name: string };
    readonly tool: string;
    readonly depth: number;
    readonly preview?: unknown;
  };
  const target = findTarget(targets, tool);
  if (target === undefined) return undefined;
  const { issuer = "", subject = client.name, name } = client;
  const identity: Identity = { issuer, subject, name, roles: [] };
  const args = isJsonObject(preview) ? preview : {};
  return callRequest({ identity, target, args, depth }, context.now());
}

/** The request of a client that calls. @param now milliseconds since the epoch */
function callRequest(
  {
    identity,
    target,
    args,
    depth,
  }: {
    readonly identity: Identity;
    readonly target: PolicyTarget;
    readonly args: JsonObject;
    readonly depth: number;
  },
  now: number,
): PolicyRequest {
  const call = {
    args,
    depth,
    parentTool: "",
    era: "modern" as const,
    now,
    labels: [],
    seenLabels: [],
  };
  return { identity, action: "call", target, call };
}

/** Returns the error `CLI_TOOL_NOT_FOUND`; `CLI_SERVER_NOT_READY` where its server is not available, `TOOL_UNAVAILABLE` where it waits for approval. */
function unknownTarget({ targets, unavailable, waiting }: PolicySituation, name: string): CodedError {
  if (waiting !== undefined) {
    const what = waiting.isChanged ? "changed after it was accepted, and waits" : "waits";
    return new CodedError(
      "TOOL_UNAVAILABLE",
      `The tool "${name}" ${what} for approval: no client is offered it`,
      {
        hint: `toolcrib approve ${waiting.server} shows it; once it is approved, the policy decides about it`,
      },
    );
  }
  const server = unavailable.find(({ id }) => isNameOf(name, id));
  if (server !== undefined) {
    const { id, kind, state, reason } = server;
    const why = reason === undefined ? "" : `: ${reasonLine(reason)}`;
    return new CliError(
      "CLI_SERVER_NOT_READY",
      `"${name}" is not known: the ${kind} "${id}" is ${state}${why}`,
      { hint: "try again when it is ready; see toolcrib status" },
    );
  }
  return new CliError(
    "CLI_TOOL_NOT_FOUND",
    `No tool, resource or prompt, and no recorded call is called "${name}"`,
    { hint: suggestionOf(name, targets) ?? "see toolcrib list, and toolcrib audit list --long for calls" },
  );
}

/** Returns names of tools as `toolcrib call` suggests them, or the nearest name of another target, in the notation of `name`. */
function suggestionOf(name: string, targets: readonly PolicyTarget[]): string | undefined {
  const tools = targets.filter(({ kind }) => kind === "tool");
  const isWire = name.includes("__") && !name.includes(":");
  return (
    didYouMeanTool(
      suggestTools(
        name,
        tools.map(({ id, wireName, server }) => ({ id, wireName, namespace: server.id })),
        [],
      ),
    ) ??
    didYouMean(
      name,
      targets.map(({ id, wireName }) => (isWire ? wireName : id)),
    )
  );
}
