/**
 * The approval of a call, of the inner calls that it shows, and of its continuation.
 *
 * A call that waits for an approval of an inner call is continued without another one of its own. An inner call whose
 * arguments were known when the call around it was approved was approved with it, exactly. Every other call
 * that needs an approval asks for its own.
 */

import { type ApprovableSteps, askApproval, type CallJournal, isApprovalNeeded } from "@toolcrib/admission";
import type { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { Decision } from "@toolcrib/policy";
import { jsonDigest } from "@toolcrib/store";
import { type Identity, identityKey, isOperator, type PlannedCall } from "@toolcrib/tool";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { validateArguments, withFixedArguments } from "./check-values.ts";
import type { GovernedCallDeps } from "./governed-call-deps.ts";

/** A call that may be made as far as the policy is concerned. */
export interface PermittedCall {
  readonly target: CallTarget;
  readonly origin: CallOrigin;
  readonly callId: string;
  readonly args: JsonObject;
  readonly argumentsDigest: string | undefined;
  readonly decision: Decision & { readonly kind: "allow" };
}

/** Dependencies of the step besides those of the call. */
export interface ApproveCallDeps extends GovernedCallDeps {
  /** Returns the arguments that an operator approves; undefined where they are too large. */
  readonly approvable: (args: JsonObject) => JsonObject | undefined;
  /** Whether the policy waives the approval of a call. */
  readonly isWaived: (target: CallTarget, args: JsonObject) => boolean;
}

/** The continuation of a call after the step. */
export interface ApprovedCall {
  readonly kind: "passed";
  /** The approval that it uses up; undefined for a call that needs none, or is continued. */
  readonly approval: string | undefined;
  /**
   * Gives the approval back where the call is not made after all. Never rejects; absent without an approval.
   *
   * @returns whether that approval is valid again in the store: not for an inner call, which uses no more than a place in
   *   that of the call around it
   */
  readonly giveBack?: () => boolean | Promise<boolean>;
  /** The journal of its inner calls; undefined for the operator's own calls, which never wait. */
  readonly journal: CallJournal | undefined;
  readonly isContinued: boolean;
}

/** Whether a call needs no approval, and nothing of it can wait for one: most calls pass without the step. */
export function passesUnasked({
  target,
  origin: { identity },
  decision,
}: Pick<PermittedCall, "target" | "origin" | "decision">): boolean {
  return isOperator(identity) || (!target.callsTools && !isOwnNeeded(target, identity, decision));
}

/** Whether a call needs an approval itself, whatever it calls. */
export function isOwnNeeded(
  target: CallTarget,
  identity: Identity,
  decision: PermittedCall["decision"],
): boolean {
  return decision.waivesApproval !== true && isApprovalNeeded(target, identity);
}

/** Takes the step for a call that does not pass unasked. Never rejects. */
export async function approveCall(
  deps: ApproveCallDeps,
  call: PermittedCall,
): Promise<
  | ApprovedCall
  | { readonly kind: "refused"; readonly error: CodedError; readonly approval: string | undefined }
> {
  const { target, origin, callId, args, argumentsDigest = "", decision } = call;
  const { identity } = origin;
  const none = { kind: "passed", approval: undefined, journal: undefined, isContinued: false } as const;
  const isOwn = isOwnNeeded(target, identity, decision);
  // What it calls asks for itself, and nothing can wait.
  if (deps.approval.approvals === undefined && !isOwn) return none;
  const steps = planSteps(deps, call);
  const key = journalKey(deps, call, steps);
  const continued = deps.journals.isEmpty ? undefined : deps.journals.claim(key);
  if (continued !== undefined) return { ...none, journal: continued, isContinued: true };
  const journal = deps.journals.create(identityKey(identity), key);
  const needing = steps?.filter(({ needsApproval }) => needsApproval) ?? [];
  // With invalid arguments there is nothing to approve.
  const isAsked = isOwn || needing.length > 0;
  if (!isAsked || validateArguments(deps, target, args, callId) !== undefined) return { ...none, journal };
  const shown = deps.journals.of(origin.parent?.callId);
  const exact = callKey(target, argumentsDigest);
  const own = needing.length > 0 ? undefined : shown?.takeApproval(exact);
  if (own !== undefined) {
    // It holds for the continuation of this call, too.
    journal.approve(own, []);
    const giveBack = () => {
      shown?.returnApproval(exact);
      return false;
    };
    return { ...none, approval: own, giveBack, journal };
  }
  const approval = { ...approvalOf(target), isOwn };
  const asked = await askApproval(
    deps.approval,
    { ...target, approval },
    {
      origin,
      argumentsDigest: call.argumentsDigest,
      whole: () => deps.approvable(args),
      steps: steps && approvableSteps(deps, steps),
      // A form shows one call.
      mayApprove: () =>
        steps === undefined && deps.policy.decide(identity, target.subject, "approve").kind === "allow",
    },
  );
  if (asked.kind === "refused") return asked;
  journal.approve(
    asked.approval,
    needing.flatMap(({ approvedKey }) => approvedKey ?? []),
  );
  return { ...none, ...asked, kind: "passed", journal };
}

/** Names an exact call of any caller. */
export function callKey(target: CallTarget, argumentsDigest: string): string {
  return [target.id, target.definitionDigest(), argumentsDigest].join("\n");
}

/** Everything that the continuation of a call is bound to. */
function journalKey(
  { approval }: GovernedCallDeps,
  { target, origin, argumentsDigest = "" }: PermittedCall,
  steps: readonly Step[] | undefined,
): string {
  const { identity, owners = [], parent } = origin;
  return JSON.stringify([
    identityKey(identity),
    owners.map(identityKey),
    parent?.tool ?? "",
    callKey(target, argumentsDigest),
    steps === undefined ? "" : digestOfSteps(steps),
    approval.policyDigest(),
  ]);
}

/** Returns the facts about a tool to which an approval is bound, also where the tool needs none itself. */
function approvalOf({
  approval,
  id,
  server,
  definitionDigest,
}: CallTarget): NonNullable<CallTarget["approval"]> {
  return approval ?? { server: server ?? id, definitionDigest: definitionDigest(), declaresWrites: true };
}

/** An inner call that is planned. */
interface Step extends PlannedCall {
  readonly target: CallTarget | undefined;
  readonly argumentsDigest: string | undefined;
  readonly needsApproval: boolean;
  /** Key of the exact call, where an approval of the call around it is for this one, too. */
  readonly approvedKey: string | undefined;
}

function planSteps(
  deps: ApproveCallDeps,
  { target, args, origin }: PermittedCall,
): readonly Step[] | undefined {
  return target.plan?.(args, origin)?.map((planned) => toStep(deps, planned, origin.identity));
}

function toStep(deps: ApproveCallDeps, planned: PlannedCall, identity: Identity): Step {
  const target = deps.targetOf(identity, planned.tool);
  const args = plannedArguments(target, planned);
  const known = args === undefined ? undefined : { args, digest: jsonDigest(args) };
  const needsApproval =
    target !== undefined && isApprovalNeeded(target, identity) && !deps.isWaived(target, args ?? {});
  // A chain within a chain shows its own steps when it is called.
  const isExact =
    needsApproval && known !== undefined && target.plan?.(known.args, { identity }) === undefined;
  return {
    ...planned,
    ...(args === undefined ? undefined : { arguments: args }),
    target,
    argumentsDigest: known?.digest,
    needsApproval,
    approvedKey: isExact ? callKey(target, known.digest) : undefined,
  };
}

/** Returns the arguments of a planned call as it is made: with those that the operator sets. */
function plannedArguments(
  target: CallTarget | undefined,
  { arguments: args }: PlannedCall,
): JsonObject | undefined {
  if (target === undefined || args === undefined) return args;
  try {
    return withFixedArguments(target, args);
  } catch {
    // The call itself will be refused.
    return args;
  }
}

function approvableSteps(deps: ApproveCallDeps, steps: readonly Step[]): ApprovableSteps {
  return {
    digest: digestOfSteps(steps),
    show: () => steps.map((step) => shownStep(deps, step)),
    needing: [
      ...new Set(steps.flatMap((one) => (one.needsApproval ? [one.target?.wireName ?? one.tool] : []))),
    ],
  };
}

function shownStep(
  deps: ApproveCallDeps,
  { step, tool, arguments: args, mapping, ...more }: Step,
): JsonObject {
  const { needsApproval, approvedKey, target } = more;
  const approval = !needsApproval ? "none" : approvedKey === undefined ? "later" : "this";
  const whole = args === undefined ? undefined : deps.approvable(args);
  return {
    step,
    tool: target?.id ?? tool,
    approval,
    ...(whole === undefined ? { mapping } : { arguments: whole }),
  };
}

function digestOfSteps(steps: readonly Step[]): string {
  return jsonDigest(
    steps.map(({ step, tool, target, mapping, argumentsDigest, needsApproval, approvedKey }) => [
      step,
      target?.id ?? tool,
      target?.definitionDigest() ?? "",
      mapping,
      argumentsDigest ?? "",
      needsApproval,
      approvedKey !== undefined,
    ]),
  );
}
