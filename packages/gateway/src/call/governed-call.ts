/**
 * The whole life of a call. Every execution of every tool passes through
 * `governedCall`: a call of a client, of the command line, of another tool.
 * No code path executes a tool without it.
 *
 * resolve → identify → authorize → guard → contain → ask hooks and authorize what they pass → approve → count →
 * record the intent → validate → execute → limit → validate the result → scrub → ask hooks → label → record. The caller
 * resolves (`CallTarget`) and identifies (`CallOrigin`); admit-call.ts takes the steps up to the intent, and
 * `perform` those after it.
 *
 * Invariants: an intent is on record before anything is executed, and exactly
 * one completion after it; a call without an intent has exactly one denial. When the intent cannot be recorded, the
 * call is refused.
 */

import { dataLabelled, type InnerOutcome, type JournalEnd } from "@toolcrib/admission";
import { hookedCall } from "@toolcrib/hooks";
import type { JsonObject } from "@toolcrib/json";
import { inspectResult } from "@toolcrib/redaction";
import { toAuditClient } from "@toolcrib/store";
import { identityKey, isInputRequired, type ToolResult } from "@toolcrib/tool";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import {
  type AdmittedCall,
  type AskedCall,
  admitCall,
  changedWhileWaiting,
  checkCall,
  type Denial,
  decideAgain,
  type Refusal,
} from "./admit-call.ts";
import { toCallError } from "./call-error.ts";
import type { BegunCall } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { limitResult, validateArguments, validateResult } from "./check-values.ts";
import { execute, scrubberFor } from "./execute-call.ts";
import type { GovernedCallDeps } from "./governed-call-deps.ts";
import { originLabelled } from "./origin-label.ts";
import { shownId } from "./shown-id.ts";

/** Runs `target` with `args` for `origin`; never rejects. */
export async function governedCall(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  origin: CallOrigin,
): Promise<CallOutcome> {
  const call = beginCall(deps, target, origin);
  const { generation } = deps.policy;
  const labelled = deps.labels?.begin(target, origin, call.subject);
  const asked = { target, origin, call, labelled, generation };
  const checked = checkCall(deps, asked, args);
  if ("refusal" in checked) return refuse(deps, call, checked.refusal);
  // An inner call is part of its outer call.
  const isOutermost = call.subject.depth === 0;
  const holder = identityKey(origin.identity);
  deps.inFlight.enter(isOutermost ? 1 : 0);
  if (isOutermost) deps.shares.take(holder);
  try {
    const admitted = await admitCall(deps, asked, checked);
    if ("refusal" in admitted) {
      const { error, isApprovalMissing } = admitted.refusal;
      if (isApprovalMissing === true && waitingCodes.has(error?.code ?? "")) {
        deps.journals.of(origin.parent?.callId)?.waits();
      }
      return refuse(deps, call, admitted.refusal);
    }
    const isJournalled = admitted.journal !== undefined || admitted.made !== undefined;
    return await (isJournalled
      ? performJournalled(deps, asked, admitted)
      : perform(deps, asked, admitted, undefined));
  } finally {
    if (isOutermost) deps.shares.giveBack(holder);
    deps.inFlight.leave(isOutermost ? 1 : 0);
  }
}

/**
 * Makes the rest of a call that an earlier run of the gateway began: the server continues it as a task. Its intent is on
 * record; its completion follows. Never rejects.
 */
export async function resumedCall(
  deps: GovernedCallDeps,
  target: CallTarget,
  origin: CallOrigin,
  { subject, startedAt, shownArguments: args = {} }: ResumedCall,
): Promise<CallOutcome> {
  const call: BegunCall = { subject, startedAt, usedMs: 0, trace: undefined };
  const labelled = deps.labels?.begin(target, origin, subject);
  const hooked = deps.hooks && hookedCall(deps.hooks, target, origin, call);
  hooked?.resume(args);
  // Its arguments were checked when it began.
  const { generation } = deps.policy;
  const asked = { target: { ...target, inputSchema: undefined }, origin, call, labelled, generation };
  const intent = { rule: "", approval: undefined };
  // A call that was made needs no approval any more.
  const admitted = { args, call, caller: origin, hooked, intent, isApproved: true };
  const holder = identityKey(origin.identity);
  deps.inFlight.enter();
  deps.shares.take(holder);
  try {
    return await perform(
      deps,
      asked,
      { ...admitted, spend: undefined, journal: undefined, made: undefined },
      undefined,
    );
  } finally {
    deps.shares.giveBack(holder);
    deps.inFlight.leave();
  }
}

/** A call that an earlier run began. */
export type ResumedCall = Parameters<NonNullable<CallOrigin["onBegun"]>>[0];

function beginCall(deps: GovernedCallDeps, target: CallTarget, origin: CallOrigin): BegunCall {
  const { parent, identity, owners, clientInfo, rounds } = origin;
  const subject: BegunCall["subject"] = {
    callId: deps.newCallId(),
    ...(parent === undefined ? undefined : { parentId: parent.callId }),
    ...(rounds?.continues === undefined ? undefined : { continues: rounds.continues }),
    depth: parent === undefined ? 0 : parent.depth + 1,
    client: toAuditClient(identity, clientInfo),
    owners: owners?.map((owner) => toAuditClient(owner)),
    tool: shownId(deps, target),
    origin: target.origin,
    ...(target.server === undefined ? undefined : { server: target.server }),
  };
  return { startedAt: deps.now(), usedMs: 0, subject, trace: deps.log.trace(subject, target, origin) };
}

/** Records that a call is not made, and returns what its caller gets. */
function refuse({ log }: GovernedCallDeps, call: BegunCall, refusal: Refusal): CallOutcome {
  log.denied(call, refusal);
  const { callId } = call.subject;
  const { decision } = refusal;
  return decision === undefined
    ? { kind: "failed", callId, error: refusal.error }
    : deniedOutcome(callId, decision);
}

function deniedOutcome(callId: string, decision: Denial): CallOutcome {
  // The record has the client, and the arguments that the decision can depend on.
  const { hint = `toolcrib why ${callId} shows what would allow it` } = decision;
  return { ...decision, hint, kind: "denied", callId };
}

/** Codes of calls that can be made later, when the operator has decided. */
const waitingCodes: ReadonlySet<string> = new Set(["APPROVAL_REQUIRED", "APPROVALS_FULL"]);

/** Performs a call with its journal, and adds it to that of the call around it. Never rejects. */
async function performJournalled(
  deps: GovernedCallDeps,
  asked: AskedCall,
  admitted: AdmittedCall,
): Promise<CallOutcome> {
  const { journals } = deps;
  const { journal, made } = admitted;
  const { callId } = asked.call.subject;
  if (journal !== undefined) journals.begin(callId, journal);
  let executed: InnerOutcome | undefined;
  let bytes = 0;
  const outcome = await perform(deps, asked, admitted, (raw, size) => {
    executed = raw;
    bytes = size;
  });
  const hasFailed = outcome.kind !== "result" || outcome.result.isError === true;
  const end = journals.end(callId, hasFailed);
  if (end !== undefined) made?.journal.waits(end === "kept" ? journal : undefined);
  else if (made !== undefined && made.outcome === undefined && executed !== undefined)
    made.journal.record(made.key, executed, bytes);
  if (end === undefined || outcome.kind !== "result") return outcome;
  return { ...outcome, result: withNote(outcome.result, end) };
}

/** Adds a text for the client about what a repeated call does. */
function withNote(result: ToolResult, end: JournalEnd): ToolResult {
  const text =
    end === "kept"
      ? "[After the approval, repeat this call with the same arguments within an hour: it continues, and the calls that it made are not made again]"
      : "[The results of the calls that it made are too large to keep: a repeated call begins anew and makes them again]";
  return { ...result, content: [...result.content, { type: "text", text }] };
}

/**
 * Executes a call whose intent is on record, and records its completion. Never rejects.
 *
 * @param onExecuted called with how the execution ended, before anything changes the result
 */
async function perform(
  deps: GovernedCallDeps,
  asked: AskedCall,
  admitted: AdmittedCall,
  onExecuted: ((outcome: InnerOutcome, bytes: number) => void) | undefined,
): Promise<CallOutcome> {
  const { target, labelled } = asked;
  const { args, call, caller, hooked, intent, spend, made } = admitted;
  const { callId } = call.subject;
  deps.log.started(call, { ...intent, containment: target.containment });
  let stored: Promise<void> | undefined;
  let denial: Denial | undefined;
  caller.onBegun?.({ ...call, shownArguments: hooked?.shownArguments, arguments: args });
  try {
    // Validate, execute, limit, validate the result, scrub and label it. Nothing reads or changes it after its label.
    const invalid = validateArguments(deps, target, args, callId);
    const recheck = () => {
      denial = decideAgain(deps, asked, admitted);
      // Sources and hooks get this error, and nothing of the rules.
      if (denial !== undefined) throw new GatewayError(denial.code, changedWhileWaiting(target));
    };
    const requester = { origin: caller, labelled, recheck };
    const run = () => madeResult(made) ?? execute(deps, target, args, call, requester);
    const toError = (thrown: unknown) => toCallError(deps, target, call, thrown);
    const result = invalid ?? (await (hooked === undefined ? run() : hooked.execute(run, toError)));
    const resultBytes = limitResult(deps, result);
    onExecuted?.({ kind: "result", result }, resultBytes);
    spend?.(resultBytes);
    validateResult(deps, target, result);
    stored = labelled && deps.labels?.arrived(labelled);
    if (stored !== undefined) await stored;
    const received = scrubberFor(deps, target).value(result);
    const scrubbed =
      hooked === undefined || invalid !== undefined
        ? received
        : await hooked.after(received, (replaced) => checkedReplacement(deps, target, replaced));
    if (target.isUnverified) deps.log.suspicious(call.subject, inspectResult(scrubbed));
    const label = invalid === undefined ? target.label : undefined;
    const shown = originLabelled(dataLabelled(scrubbed, labelled), label) as unknown as ToolResult;
    const fingerprints = deps.fingerprints?.ofResult(scrubbed as unknown as ToolResult);
    const facts = { hooks: hooked?.takeRecords(), labels: labelled?.run.labels };
    const durationMs = deps.now() - call.startedAt;
    deps.log.completed(call, shown, { ...facts, durationMs, resultBytes, fingerprints });
    if (!isInputRequired(shown)) return { kind: "result", callId, result: shown };
    const isApproved = intent.approval !== undefined || caller.rounds?.isApproved === true;
    return { kind: "result", callId, result: shown, isApproved };
  } catch (thrown) {
    // An error of a tool can contain its data, and waits for its labels as a result does.
    stored ??= labelled && deps.labels?.arrived(labelled);
    const failure =
      stored === undefined
        ? thrown
        : await stored.then(
            () => thrown,
            (error: unknown) => error,
          );
    const error = toCallError(deps, target, call, failure);
    // The next run of the gateway records how it ends.
    if (caller.task?.isLeft === true) return { kind: "failed", callId, error };
    onExecuted?.({ kind: "failed", error }, failureBytes);
    const facts = { hooks: hooked?.takeRecords(), labels: labelled?.run.labels };
    const durationMs = deps.now() - call.startedAt;
    if (denial !== undefined && denial.code === error.code) {
      // Its intent is on record, so that its end is a completion, and its client reads the answer to a denial.
      deps.log.failed(call, new GatewayError(denial.code, denial.reason), { ...facts, durationMs });
      return deniedOutcome(callId, denial);
    }
    deps.log.failed(call, error, { ...facts, durationMs });
    return { kind: "failed", callId, error };
  }
}

/** Bytes that a failure takes in a journal. */
const failureBytes = 4096;

/** Returns how a call ended that was made before; undefined for one that is made now. */
function madeResult(made: AdmittedCall["made"]): Promise<JsonObject> | undefined {
  if (made?.outcome === undefined) return undefined;
  const { outcome } = made;
  return outcome.kind === "result" ? Promise.resolve(outcome.result) : Promise.reject(outcome.error);
}

/** Returns a result that a hook put in place of another one, checked as any other. @throws {GatewayError} */
function checkedReplacement(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): JsonObject {
  limitResult(deps, result);
  validateResult(deps, target, result);
  return scrubberFor(deps, target).value(result);
}
