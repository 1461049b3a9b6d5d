/**
 * The steps of a call before it is executed: authorize → guard → contain → ask hooks and authorize what they pass →
 * approve, and authorize again after an approval → count → record the intent. A call that passes all of them has its intent on record; any other is
 * refused, and nothing of it is executed.
 *
 * It never rejects, and it records no refusal: the caller does (governed-call.ts), once.
 */

import { hash } from "node:crypto";
import { type CallJournal, checkedOrigin, type InnerOutcome, type LabelledCall } from "@toolcrib/admission";
import { CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { type HookedCall, hookedCall } from "@toolcrib/hooks";
import { type Block, blockOf } from "@toolcrib/inventory";
import { canonicalJson, type JsonObject, jsonSize } from "@toolcrib/json";
import type { CallFacts, Decision } from "@toolcrib/policy";
import { cleanPlaces, credentialRanges, previewArguments, wholeArguments } from "@toolcrib/redaction";
import { approvedArgumentsMaxBytes } from "@toolcrib/store";
import { identityKey } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { type ApprovedCall, approveCall, callKey, isOwnNeeded, passesUnasked } from "./approve-call.ts";
import { toCallError } from "./call-error.ts";
import type { ArgumentFacts, BegunCall, CallLog } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { withFixedArguments } from "./check-values.ts";
import type { GovernedCallDeps } from "./governed-call-deps.ts";
import { refusedCall } from "./refused-call.ts";
import { shownId } from "./shown-id.ts";

type DeniedFacts = Parameters<CallLog["denied"]>[1];
/** A denial of the policy. */
export type Denial = Decision & { readonly kind: "deny" };
type Permission = Decision & { readonly kind: "allow" };

/** A call as it was asked for. */
export interface AskedCall {
  readonly target: CallTarget;
  readonly origin: CallOrigin;
  readonly call: BegunCall;
  readonly labelled: LabelledCall | undefined;
  /** That of the policy before the first decision about the call. */
  readonly generation: number;
}

/** Why a call is not made: a decision of the policy or an error, and the facts for the record. */
export type Refusal = DeniedFacts &
  ({ readonly decision: Denial } | { readonly decision?: undefined; readonly error: CodedError });

/** A call that may be made as far as that is known without waiting. */
export interface CheckedCall {
  readonly args: JsonObject;
  readonly decision: Permission;
  /** The arguments for the record. */
  readonly facts: ArgumentFacts;
}

/** A call whose intent is on record. */
export interface AdmittedCall {
  readonly args: JsonObject;
  /** With the time that hooks used, and without the time that a person took. */
  readonly call: BegunCall;
  /** Its origin, of which only checked parts remain where somebody checked the call. */
  readonly caller: CallOrigin;
  readonly hooked: HookedCall | undefined;
  readonly intent: Pick<Parameters<CallLog["intent"]>[1], "rule" | "approval">;
  /** Whether it is made after an approval: its own, or that of the call which it continues. */
  readonly isApproved: boolean;
  /** The journal of its inner calls; undefined for a call that never waits in the middle. */
  readonly journal: CallJournal | undefined;
  /** Its place in the journal of the call around it, and how it ended when it was made before. */
  readonly made: MadeBefore | undefined;
  /** Counts the bytes of its result. */
  readonly spend: ((bytes: number) => void) | undefined;
}

/** An inner call in the journal of the call around it. */
export interface MadeBefore {
  readonly key: string;
  readonly journal: CallJournal;
  /** Undefined for a call that is made now. */
  readonly outcome: InnerOutcome | undefined;
}

/** Takes the steps that do not wait. */
export function checkCall(
  deps: GovernedCallDeps,
  { target, origin, call, labelled }: AskedCall,
  given: JsonObject,
): CheckedCall | { readonly refusal: Refusal } {
  const { depth } = call.subject;
  let args = given;
  try {
    args = withFixedArguments(target, given);
  } catch (error) {
    return { refusal: { ...describeArguments(deps, target, given).facts, error: error as GatewayError } };
  }
  // Authorize. Only the policy decides about the call; its arguments are described for the record.
  const decision = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, labelled?.run));
  const { facts, error: notJson } = describeArguments(deps, target, args);
  if (decision.kind === "deny") return { refusal: { ...facts, decision } };
  const guarded = deps.pauses.refusal(target, origin) ?? deps.callLimits?.refusal(target, origin);
  if (guarded !== undefined) return { refusal: { ...facts, ...guarded } };
  // Contain: the operator's declaration about the server, the form of the arguments, the depth, the number of calls in flight.
  for (const violation of target.violations) deps.log.violation(call.subject, violation);
  const block = blockOf(target.violations, target.server ?? "");
  const error =
    (block && blockedError(target, block)) ?? notJson ?? crowdedError(deps, depth, origin.identity);
  if (error !== undefined) return { refusal: { ...facts, error, rule: block?.rule } };
  return { args, decision, facts };
}

/** Takes the steps that can wait: for hooks, for a person, for the record. */
export async function admitCall(
  deps: GovernedCallDeps,
  asked: AskedCall,
  checked: CheckedCall,
): Promise<AdmittedCall | { readonly refusal: Refusal }> {
  const { target, origin, call } = asked;
  const hooked = deps.hooks && hookedCall(deps.hooks, target, origin, call);
  try {
    const passed = hooked === undefined ? checked : await askHooks(deps, asked, checked, hooked);
    if ("refusal" in passed) return passed;
    return await admitChecked(deps, asked, passed, hooked);
  } catch (thrown) {
    const error = toCallError(deps, target, call, thrown);
    return { refusal: { ...checked.facts, error, hooks: hooked?.takeRecords() } };
  }
}

/** Asks the hooks before a call, and authorizes what they pass: the policy can have changed, and so can the arguments. */
async function askHooks(
  deps: GovernedCallDeps,
  { target, origin, call, labelled }: AskedCall,
  checked: CheckedCall,
  hooked: HookedCall,
): Promise<CheckedCall | { readonly refusal: Refusal }> {
  const answered = await hooked.before(checked.args);
  if (answered.kind === "refused") {
    const { error, rule } = answered;
    return { refusal: { ...checked.facts, error, rule, hooks: hooked.takeRecords() } };
  }
  const { args } = answered;
  const described = args === checked.args ? undefined : describeArguments(deps, target, args);
  const facts = described?.facts ?? checked.facts;
  const { depth } = call.subject;
  const decision = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, labelled?.run));
  if (decision.kind === "deny") return { refusal: { ...facts, decision, hooks: hooked.takeRecords() } };
  const error = described?.error;
  if (error !== undefined) return { refusal: { ...facts, error, hooks: hooked.takeRecords() } };
  return { args, decision, facts };
}

async function admitChecked(
  deps: GovernedCallDeps,
  { target, origin, call: begun, labelled }: AskedCall,
  { args, decision, facts }: CheckedCall,
  hooked: HookedCall | undefined,
): Promise<AdmittedCall | { readonly refusal: Refusal }> {
  let call = hooked === undefined ? begun : { ...begun, usedMs: hooked.usedMs };
  // The answers to the questions of an approved call belong to that call; a hook can have changed another one.
  const continuesApproved = hooked === undefined && origin.rounds?.isApproved === true;
  const { argumentsDigest } = facts;
  const made = madeBefore(deps, target, origin, argumentsDigest);
  // Approve. Most calls need no approval and do not wait here. What was made before was approved before.
  const isAsked = made?.outcome === undefined && !continuesApproved;
  const passed =
    isAsked && !passesUnasked({ target, origin, decision })
      ? await approveCall(
          {
            ...deps,
            approvable: (all) => approvableArguments(deps, all),
            isWaived: (inner, all) => isWaived(deps, inner, origin, all, call.subject.depth + 1),
          },
          { target, origin, callId: call.subject.callId, args, argumentsDigest, decision },
        )
      : unasked;
  if (passed.kind === "refused") {
    const { error, approval } = passed;
    return {
      refusal: { ...facts, error, approval, isApprovalMissing: true, hooks: hooked?.takeRecords() },
    };
  }
  const { approval, journal, isContinued } = passed;
  /** Gives back what the call has taken. @returns the approval for the record, where it is valid again */
  const giveBack = async () => {
    const isValidAgain = (await passed.giveBack?.()) === true;
    if (isContinued && journal !== undefined) deps.journals.giveBack(journal);
    if (made?.outcome !== undefined) made.journal.returnMade(made.key);
    return isValidAgain ? ({ approval, isApprovalReturned: true } as const) : undefined;
  };
  // Every approval is noted in the journal of its call, also for its continuation.
  const isApproved = journal?.approval !== undefined || continuesApproved;
  // What a continued call makes was checked, also where nobody approved the call itself.
  const isChecked = isApproved || isContinued || hooked?.checksArguments === true;
  if (approval !== undefined) {
    // A person took minutes, in which the policy and the labels can have changed.
    const { depth } = call.subject;
    const latest = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, labelled?.run));
    if (latest.kind === "deny") {
      // A call that was asked for has taken nothing of an earlier execution.
      return { refusal: { ...facts, decision: latest, hooks: hooked?.takeRecords() } };
    }
    // The time that it took does not count.
    call = { ...call, startedAt: deps.now() - call.usedMs };
  }
  // Count it. Another call can have used the rest of a budget meanwhile.
  const taken =
    made?.outcome === undefined
      ? deps.callLimits?.take(target, origin, () => jsonSize(args, deps.limits.resultMaxBytes))
      : undefined;
  if (taken !== undefined && "error" in taken) {
    const returned = await giveBack();
    return { refusal: { ...facts, ...taken, ...returned, hooks: hooked?.takeRecords() } };
  }
  // Record the intent before anything is executed.
  const intent = {
    rule: decision.rule,
    approval,
    ...(made?.outcome === undefined ? undefined : { isRepeated: true as const }),
  };
  const hooks = hooked?.takeRecords();
  try {
    const fingerprints = deps.fingerprints?.ofArguments(args, (places) => cleanPlaces(deps.scrubber, places));
    const { containment } = target;
    const labels = deps.labels?.factsOf(labelled);
    await deps.log.intent(call.subject, { ...facts, ...intent, hooks, containment, fingerprints, ...labels });
  } catch (cause) {
    const returned = await giveBack();
    return { refusal: { ...facts, ...returned, error: unrecordedError(cause), hooks } };
  }
  const caller = isChecked ? checkedOrigin(origin) : origin;
  return { args, call, caller, hooked, intent, isApproved, spend: taken?.spend, journal, made };
}

/**
 * Decides again about a call that waited after its admission, where the policy changed since: for a place in the queue of
 * its server, or for a session. Where nothing changed, it compares two numbers.
 *
 * @returns the denial, for the operator as every denial; undefined where the call may be made
 * @throws {GatewayError} `TOOL_CHANGED` where it would need an approval now
 */
export function decideAgain(
  deps: GovernedCallDeps,
  { target, origin, call, labelled, generation }: AskedCall,
  { args, isApproved }: Pick<AdmittedCall, "args" | "isApproved">,
): Denial | undefined {
  if (deps.policy.generation === generation) return undefined;
  const { depth } = call.subject;
  const decision = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, labelled?.run));
  const what = changedWhileWaiting(target);
  if (decision.kind === "deny") return { ...decision, reason: `${what}: ${decision.reason}` };
  if (isApproved || target.method !== "tools/call") return undefined;
  // The target is that of the policy before: a waiver can be withdrawn. Its source decides about one that is gone.
  const current = deps.currentTarget(target.id) ?? target;
  if (!isOwnNeeded(current, origin.identity, decision)) return undefined;
  const hint = "repeat the call: it needs the approval of the operator then";
  throw new GatewayError("TOOL_CHANGED", `${what}: it needs an approval now`, { hint });
}

/** What a client reads of a call that was not made because of another policy: nothing of that policy. */
export function changedWhileWaiting({ shownName }: Pick<CallTarget, "shownName">): string {
  return `"${shownName}" was not called, because the policy changed while the call waited`;
}

const unasked: ApprovedCall = {
  kind: "passed",
  approval: undefined,
  journal: undefined,
  isContinued: false,
};

/** Returns the place of an inner call in the journal of the call around it; undefined where that has none. */
function madeBefore(
  deps: GovernedCallDeps,
  target: CallTarget,
  { parent }: CallOrigin,
  argumentsDigest: string | undefined,
): MadeBefore | undefined {
  const journal = deps.journals.of(parent?.callId);
  if (journal === undefined || argumentsDigest === undefined) return undefined;
  const key = callKey(target, argumentsDigest);
  return { key, journal, outcome: journal.takeMade(key) };
}

/** Whether the policy waives the approval of an inner call that is planned. */
function isWaived(
  deps: GovernedCallDeps,
  target: CallTarget,
  origin: CallOrigin,
  args: JsonObject,
  depth: number,
): boolean {
  const decision = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, origin.run));
  return decision.kind === "allow" && decision.waivesApproval === true;
}

/** Returns the facts about a call that policies can ask for. */
function callFactsOf(
  { now, labels }: GovernedCallDeps,
  args: JsonObject,
  origin: CallOrigin,
  depth: number,
  run: CallOrigin["run"],
): CallFacts {
  const { parent, era } = origin;
  return {
    args,
    depth,
    parentTool: parent?.tool ?? "",
    era,
    now: now(),
    labels: run?.labels ?? [],
    seenLabels: labels?.seenBy(origin) ?? [],
  };
}

function decide(
  deps: GovernedCallDeps,
  target: CallTarget,
  origin: CallOrigin,
  facts: () => CallFacts,
): Decision {
  const { policy, scrubber } = deps;
  const { identity, owners } = origin;
  const decision = policy.decide(identity, target.subject, "call", facts);
  if (decision.kind === "deny") return { ...decision, reason: scrubber.text(decision.reason) };
  if (owners === undefined) return decision;
  // A saved tool without an approval has no permission that its owner does not have.
  for (const owner of owners) {
    const ofOwner = policy.decide(owner, target.subject, "call", facts);
    if (ofOwner.kind === "deny") {
      const reason = `"${identity.name}" may not use "${shownId(deps, target)}" here: ${ownerReason}`;
      return { ...ofOwner, reason, message: ownerReason, hint: ownerHint };
    }
  }
  return decision;
}

// The rule is on the audit trail. The caller does not learn the rules of another client.
const ownerReason = "a saved tool around this call is not approved, and its owner may not use it";
const ownerHint = "the operator can approve the saved tool";

/** The refusal of a call that breaks what the operator declared about its server. */
function blockedError({ shownName }: CallTarget, { code, reason, change }: Block): GatewayError {
  const hint = `the operator of the gateway can allow it for the server: ${change}`;
  return new GatewayError(code, `"${shownName}" was not called: ${reason}`, { hint });
}

/** The refusal of a call that is too deep, or one too many. */
function crowdedError(
  { limits, shares }: GovernedCallDeps,
  depth: number,
  identity: CallOrigin["identity"],
): GatewayError | undefined {
  if (depth > limits.maxDepth) {
    return new GatewayError("CALL_TOO_DEEP", `Inner calls can be at most ${limits.maxDepth} levels deep`);
  }
  const refusal = depth > 0 ? undefined : shares.refusalFor(identityKey(identity));
  return refusal === undefined ? undefined : refusedCall(refusal, limits.maxConcurrentCalls);
}

/** The arguments for the record, or the error if they are not JSON: a program can pass anything. */
function describeArguments(deps: GovernedCallDeps, target: CallTarget, args: JsonObject) {
  try {
    // Joined instead of concatenated: JSON.stringify takes twice as long for a concatenated string.
    const argumentsDigest = ["sha256:", hash("sha256", canonicalJson(args), "hex")].join("");
    return {
      facts: {
        argumentsDigest,
        preview: previewArguments(
          args,
          deps.scrubber,
          credentialRanges,
          deps.hiddenArguments.of(target, args),
        ),
      },
      error: undefined,
    };
  } catch (cause) {
    const message = `The arguments are not JSON: ${messageOf(cause)}`;
    return { facts: {}, error: new GatewayError("PARAMS_INVALID", message, { cause }) };
  }
}

/** The arguments that an operator approves; undefined where they are too large. */
function approvableArguments({ scrubber }: GovernedCallDeps, args: JsonObject): JsonObject | undefined {
  // The store measures exactly; here it is the work for much larger ones that is limited.
  const roughMaxBytes = 8 * approvedArgumentsMaxBytes;
  const isLarge = jsonSize(args, roughMaxBytes) > roughMaxBytes;
  return isLarge ? undefined : wholeArguments(args, scrubber);
}

function unrecordedError(cause: unknown): CodedError {
  const text = `The call was not made because it could not be recorded: ${messageOf(cause)}`;
  const options = { hint: isCodedError(cause) ? cause.hint : undefined, cause };
  // A client that used up its records can tell that from a trail that cannot be written.
  return isCodedError(cause) && cause.code === "AUDIT_BUDGET_EXCEEDED"
    ? new CodedError(cause.code, text, options)
    : new GatewayError("AUDIT_UNAVAILABLE", text, options);
}
