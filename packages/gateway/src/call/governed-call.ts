/**
 * The whole life of a call. Every execution of every tool passes through
 * `governedCall`: a call of a client, of the command line, of another tool.
 * No code path executes a tool without it.
 *
 * resolve → identify → authorize → guard → contain → ask hooks and authorize what they pass → approve → count →
 * record the intent → validate → execute → limit → validate the result → scrub → ask hooks → label → record. The caller resolves
 * (`CallTarget`) and identifies (`CallOrigin`); the other steps are the lines
 * of this function.
 *
 * Invariants: an intent is on record before anything is executed, and exactly
 * one completion or denial after it; when the intent cannot be recorded, the
 * call is refused.
 */

import { hash } from "node:crypto";
import { credentialRanges } from "@toolcrib/config";
import { CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import {
  canonicalJson,
  isCoercible,
  isJsonObject,
  type JsonObject,
  jsonSize,
  type SchemaValidator,
} from "@toolcrib/json";
import type { FairShare, InFlight } from "@toolcrib/lifecycle";
import { type CallFacts, type Decision, settingOf, type TrustViolation } from "@toolcrib/policy";
import { inspectResult, previewArguments, wholeArguments } from "@toolcrib/redaction";
import { approvedArgumentsMaxBytes, type openFingerprints, toAuditClient } from "@toolcrib/store";
import { identityKey, type ToolResult, textResult } from "@toolcrib/tool";
import {
  type ApprovalStepDeps,
  askApproval,
  checkedOrigin,
  isApprovalNeeded,
} from "../approvals/approval-step.ts";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import type { CallLimits } from "../guards/call-limits.ts";
import type { GatewayPolicy } from "../policy/access-subject.ts";
import { type CallHooksDeps, type HookedCall, hookedCall } from "./call-hooks.ts";
import type { BegunCall, CallLog } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { cleanPlaces } from "./clean-places.ts";
import { type ExecutionDeps, execute, scrubberFor } from "./execute-call.ts";
import type { HiddenArguments } from "./hidden-arguments.ts";
import { dataLabelled, type LabelledCall } from "./label-tracker.ts";
import { errorLabelled, originLabelled } from "./origin-label.ts";
import { refusedCall } from "./refused-call.ts";
import { scrubCause, scrubError } from "./scrub-error.ts";

/** Dependencies of the governed call. */
export interface GovernedCallDeps extends ExecutionDeps {
  readonly policy: GatewayPolicy;
  readonly validator: SchemaValidator;
  /** Arguments that no preview shows. */
  readonly hiddenArguments: HiddenArguments;
  /** Computes fingerprints of values for the record. @default records have none */
  readonly fingerprints: Awaited<ReturnType<typeof openFingerprints>> | undefined;
  readonly log: CallLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new unique id for a call. */
  readonly newCallId: () => string;
  readonly limits: {
    /** Largest result in bytes. */
    readonly resultMaxBytes: number;
    /** Maximum number of calls in flight. */
    readonly maxConcurrentCalls: number;
    /** Greatest depth of inner calls. */
    readonly maxDepth: number;
  };
  /** Calls in flight, of all callers together. */
  readonly inFlight: InFlight;
  /** The same calls by client. */
  readonly shares: FairShare;
  /** Approvals of single calls. */
  readonly approval: ApprovalStepDeps;
  /** Rates, budgets and windows of time; undefined where none is configured. */
  readonly callLimits: CallLimits | undefined;
  /** Programs that are asked about calls; undefined where none is configured. */
  readonly hooks: CallHooksDeps | undefined;
}

/** Runs `target` with `wanted` arguments for `origin`; never rejects. */
export async function governedCall(
  deps: GovernedCallDeps,
  target: CallTarget,
  wanted: JsonObject,
  origin: CallOrigin,
): Promise<CallOutcome> {
  let args = wanted;
  let call = beginCall(deps, target, origin);
  const labelled = deps.labels?.begin(target, origin, call.subject);
  const { callId, depth } = call.subject;
  // Authorize. Only the policy decides about the call; its arguments are described for the record.
  const authorized = decide(deps, target, origin, () =>
    callFactsOf(deps, args, origin, depth, labelled?.run),
  );
  let described = describeArguments(deps, target, args);
  if (authorized.kind === "deny") {
    deps.log.denied(call, { ...described.facts, decision: authorized });
    return { ...authorized, kind: "denied", callId };
  }
  const guarded = deps.pauses.refusal(target, origin) ?? deps.callLimits?.refusal(target, origin);
  if (guarded !== undefined) {
    deps.log.denied(call, { ...described.facts, ...guarded });
    return { kind: "failed", callId, error: guarded.error };
  }
  // Contain: the operator's declaration about the server, the form of the arguments, the depth, the number of calls in flight.
  for (const violation of target.violations) deps.log.violation(call.subject, violation);
  const blocking = target.violations.find(({ rule: { effect } }) => effect === "block");
  const holder = identityKey(origin.identity);
  const refusal =
    (blocking && blockedError(target, blocking)) ?? described.error ?? refuse(deps, depth, holder);
  if (refusal !== undefined) {
    deps.log.denied(call, { ...described.facts, error: refusal, rule: blocking?.rule.id });
    return { kind: "failed", callId, error: refusal };
  }
  // An inner call is part of its outer call.
  const operations = depth === 0 ? 1 : 0;
  deps.inFlight.enter(operations);
  if (depth === 0) deps.shares.take(holder);
  let decision = authorized;
  const hooked = deps.hooks && hookedCall(deps.hooks, target, origin, call);
  try {
    if (hooked !== undefined) {
      const asked = await askHooks(deps, hooked, { target, args, origin, call, described, labelled });
      if (asked.kind !== "passed") return asked;
      ({ args, decision, described } = asked);
      call = { ...call, usedMs: hooked.usedMs };
    }
    // Approve. Most calls need no approval and do not wait here; with invalid arguments there is nothing to approve.
    const approved =
      decision.waivesApproval !== true &&
      isApprovalNeeded(target, origin.identity) &&
      validateArguments(deps, target, args, callId) === undefined
        ? await askApproval(deps.approval, target, {
            origin,
            argumentsDigest: described.facts.argumentsDigest,
            whole: () => approvableArguments(deps, args),
          })
        : undefined;
    if (approved?.kind === "refused") {
      const { error, approval } = approved;
      const hooks = hooked?.takeRecords();
      deps.log.denied(call, { ...described.facts, error, approval, isApprovalMissing: true, hooks });
      return { kind: "failed", callId, error };
    }
    const isChecked = approved !== undefined || hooked?.checksArguments === true;
    const caller = isChecked ? checkedOrigin(origin) : origin;
    // The time that a person takes to approve does not count.
    if (approved !== undefined) call = { ...call, startedAt: deps.now() - call.usedMs };
    // Count it. Another call can have used the rest of a budget meanwhile.
    const taken = deps.callLimits?.take(target, origin, () => jsonSize(args, deps.limits.resultMaxBytes));
    if (taken !== undefined && "error" in taken) {
      deps.log.denied(call, { ...described.facts, ...taken, hooks: hooked?.takeRecords() });
      return { kind: "failed", callId, error: taken.error };
    }
    // Record the intent before anything is executed.
    const intent = { rule: decision.rule, approval: approved?.approval, hooks: hooked?.takeRecords() };
    const unrecorded = await recordIntent(deps, { target, args, origin, call, described, labelled }, intent);
    if (unrecorded !== undefined) {
      deps.log.denied(call, { ...described.facts, error: unrecorded, hooks: intent.hooks });
      return { kind: "failed", callId, error: unrecorded };
    }
    deps.log.started(call, { rule: intent.rule, containment: target.containment, approval: intent.approval });
    // Validate, execute, limit, validate the result, scrub and label it. Nothing reads or changes it after its label.
    const invalid = validateArguments(deps, target, args, callId);
    const run = () => execute(deps, target, args, call, { origin: caller, labelled });
    const toError = (thrown: unknown) => toCallError(deps, target, call, thrown);
    const result = invalid ?? (await (hooked === undefined ? run() : hooked.execute(run, toError)));
    const resultBytes = limit(deps, result);
    taken?.spend(resultBytes);
    validateResult(deps, target, result);
    if (labelled !== undefined) await deps.labels?.arrived(labelled);
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
    return { kind: "result", callId, result: shown };
  } catch (thrown) {
    // An error of a tool can contain its data.
    if (labelled !== undefined) deps.labels?.passedOn(labelled);
    const error = toCallError(deps, target, call, thrown);
    const facts = { hooks: hooked?.takeRecords(), labels: labelled?.run.labels };
    deps.log.failed(call, error, { ...facts, durationMs: deps.now() - call.startedAt });
    return { kind: "failed", callId, error };
  } finally {
    if (depth === 0) deps.shares.giveBack(holder);
    deps.inFlight.leave(operations);
  }
}

function beginCall(deps: GovernedCallDeps, target: CallTarget, origin: CallOrigin): BegunCall {
  const { parent, identity, owners, clientInfo } = origin;
  const subject: BegunCall["subject"] = {
    callId: deps.newCallId(),
    ...(parent === undefined ? undefined : { parentId: parent.callId }),
    depth: parent === undefined ? 0 : parent.depth + 1,
    client: toAuditClient(identity, clientInfo),
    owners: owners?.map((owner) => toAuditClient(owner)),
    tool: shownId(deps, target),
    origin: target.origin,
    ...(target.server === undefined ? undefined : { server: target.server }),
  };
  return { startedAt: deps.now(), usedMs: 0, subject, trace: deps.log.trace(subject, target, origin) };
}

/** A call that is about to be made. */
interface PreparedCall {
  readonly target: CallTarget;
  readonly args: JsonObject;
  readonly origin: CallOrigin;
  readonly call: BegunCall;
  readonly described: ReturnType<typeof describeArguments>;
  readonly labelled: LabelledCall | undefined;
}

/** Arguments that the hooks passed and that are authorized, or the outcome of a call that is refused. */
type HookedOutcome =
  | CallOutcome
  | {
      readonly kind: "passed";
      readonly args: JsonObject;
      readonly decision: Decision & { readonly kind: "allow" };
      readonly described: PreparedCall["described"];
    };

/** Asks the hooks before a call, and authorizes what they pass: the policy can have changed, and so can the arguments. */
async function askHooks(
  deps: GovernedCallDeps,
  hooked: HookedCall,
  { target, args: wanted, origin, call, described: before, labelled }: PreparedCall,
): Promise<HookedOutcome> {
  const { callId, depth } = call.subject;
  const answered = await hooked.before(wanted);
  if (answered.kind === "refused") {
    const { error, rule } = answered;
    deps.log.denied(call, { ...before.facts, error, rule, hooks: hooked.takeRecords() });
    return { kind: "failed", callId, error };
  }
  const { args } = answered;
  const described = args === wanted ? before : describeArguments(deps, target, args);
  const decision = decide(deps, target, origin, () => callFactsOf(deps, args, origin, depth, labelled?.run));
  if (decision.kind === "deny") {
    deps.log.denied(call, { ...described.facts, decision, hooks: hooked.takeRecords() });
    return { ...decision, kind: "denied", callId };
  }
  if (described.error !== undefined) {
    const { error } = described;
    deps.log.denied(call, { ...described.facts, error, hooks: hooked.takeRecords() });
    return { kind: "failed", callId, error };
  }
  return { kind: "passed", args, decision, described };
}

/** The id for the record. The id of a resource contains a URI, which can be long and can contain a secret. */
function shownId({ scrubber }: GovernedCallDeps, { id }: CallTarget): string {
  const shown = scrubber.text(id);
  return shown.length <= idMaxLength ? shown : `${shown.slice(0, idMaxLength)}…`;
}

/** Longest id in a record. */
const idMaxLength = 500;

/** What policies can ask about a call. */
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
      return { ...ofOwner, reason, hint: ownerHint };
    }
  }
  return decision;
}

// The rule is on the audit trail. The caller does not learn the rules of another client.
const ownerReason = "a saved tool around this call is not approved, and its owner may not use it";
const ownerHint = "the operator can approve the saved tool";

/** The refusal of a call that breaks what the operator declared about its server. */
function blockedError({ shownName, server }: CallTarget, { rule, reason }: TrustViolation): GatewayError {
  const code = rule.event === "mutability.violation" ? "MUTABILITY_VIOLATION" : "CONTAINMENT_VIOLATION";
  const message = `"${shownName}" was not called: ${reason}, and its server "${server}" has ${settingOf(rule)}`;
  return new GatewayError(code, message, {
    hint: `the operator of the gateway can allow it for the server: ${rule.remedy?.replaceAll("`", "")}`,
  });
}

function refuse(
  { limits, shares }: GovernedCallDeps,
  depth: number,
  holder: string,
): GatewayError | undefined {
  if (depth > limits.maxDepth) {
    return new GatewayError("CALL_TOO_DEEP", `Inner calls can be at most ${limits.maxDepth} levels deep`);
  }
  const refusal = depth > 0 ? undefined : shares.refusalFor(holder);
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

/** Records the intent of a call. Returns why that is not possible. */
async function recordIntent(
  deps: GovernedCallDeps,
  { target: { containment }, args, call, described, labelled }: PreparedCall,
  intent: Pick<Parameters<CallLog["intent"]>[1], "rule" | "approval" | "hooks">,
): Promise<CodedError | undefined> {
  try {
    const labels = deps.labels?.factsOf(labelled);
    const fingerprints = deps.fingerprints?.ofArguments(args, (places) => cleanPlaces(deps.scrubber, places));
    await deps.log.intent(call.subject, {
      ...described.facts,
      ...intent,
      containment,
      fingerprints,
      ...labels,
    });
    return undefined;
  } catch (cause) {
    return unrecordedError(cause);
  }
}

function unrecordedError(cause: unknown): CodedError {
  const text = `The call was not made because it could not be recorded: ${messageOf(cause)}`;
  const options = { hint: isCodedError(cause) ? cause.hint : undefined, cause };
  // A client that used up its records can tell that from a trail that cannot be written.
  return isCodedError(cause) && cause.code === "AUDIT_BUDGET_EXCEEDED"
    ? new CodedError(cause.code, text, options)
    : new GatewayError("AUDIT_UNAVAILABLE", text, options);
}

/** Returns an error result that lists all problems, so that a model can correct the call; undefined if the arguments are valid. */
function validateArguments(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  callId: string,
): JsonObject | undefined {
  if (target.inputSchema === undefined) return undefined;
  const verdict = deps.validator.validateSupported(target.inputSchema, args);
  if (verdict.kind === "valid") return undefined;
  if (target.coercesArguments && isCoercible(deps.validator, target.inputSchema, args)) return undefined;
  if (verdict.kind === "unusable") {
    deps.log.warn(
      { tool: target.id, reason: verdict.reason },
      "input schema cannot be used; arguments pass unchecked",
    );
    return undefined;
  }
  const lines = verdict.problems.map(
    ({ path, message }) => `- ${path === "" ? "the arguments" : path} ${message}`,
  );
  const text = `Invalid arguments for "${target.shownName}":\n${lines.join("\n")}`;
  return {
    ...textResult(text, true),
    _meta: { "toolcrib/code": "ARGUMENTS_INVALID", "toolcrib/callId": callId },
  } as JsonObject;
}

/** The size of a result. @throws {GatewayError} `RESULT_TOO_LARGE` */
function limit({ limits }: GovernedCallDeps, result: JsonObject): number {
  const size = jsonSize(result, limits.resultMaxBytes);
  if (size <= limits.resultMaxBytes) return size;
  throw new GatewayError("RESULT_TOO_LARGE", `The result is larger than ${limits.resultMaxBytes} bytes`, {
    hint: "request less from the tool, or raise serve.limits.result_max_bytes",
  });
}

/** Returns a result that a hook put in place of another one, checked as any other. @throws {GatewayError} */
function checkedReplacement(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): JsonObject {
  limit(deps, result);
  validateResult(deps, target, result);
  return scrubberFor(deps, target).value(result);
}

/** @throws {GatewayError} `RESULT_INVALID` */
function validateResult(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): void {
  const { outputSchema } = target;
  if (outputSchema === undefined || result["isError"] === true) return;
  const verdict = deps.validator.validateSupported(outputSchema, result["structuredContent"]);
  if (verdict.kind === "valid") return;
  if (verdict.kind === "unusable") {
    deps.log.warn(
      { tool: target.id, reason: verdict.reason },
      "output schema cannot be used; results pass unchecked",
    );
    return;
  }
  const lines = verdict.problems.map(({ path, message }) => `- structuredContent${path} ${message}`);
  throw new GatewayError(
    "RESULT_INVALID",
    `The result of "${target.shownName}" does not match the tool's output schema:\n${lines.join("\n")}`,
    { hint: "report it to the operator of this server; the result was not passed on" },
  );
}

/** Converts any failure to the coded error that callers see. */
function toCallError(
  deps: GovernedCallDeps,
  target: CallTarget,
  call: BegunCall,
  thrown: unknown,
): CodedError {
  const scrubber = scrubberFor(deps, target);
  if (isCodedError(thrown)) {
    const error = scrubError(scrubber, thrown);
    return target.isUnverified && target.label !== undefined ? errorLabelled(error, target.label) : error;
  }
  const text = `"${target.shownName}" failed: ${messageOf(thrown)} (call ${call.subject.callId})`;
  return new GatewayError("CALL_FAILED", scrubber.text(text), { cause: scrubCause(scrubber, thrown) });
}

/** Returns the arguments of a call, or undefined if `value` cannot be arguments; absent arguments are empty. */
export function toArguments(value: unknown): JsonObject | undefined {
  if (value === undefined) return {};
  return isJsonObject(value) ? value : undefined;
}
