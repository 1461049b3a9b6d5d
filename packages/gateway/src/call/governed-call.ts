/**
 * The whole life of a call. Every execution of every origin passes through
 * `governedCall`: from a client, from the command line, from inside another
 * tool. There is no second door.
 *
 * resolve → identify → authorise → contain → validate → execute → limit →
 * validate result → scrub → record. Resolving happens before (`CallTarget`), identifying
 * at the edge (`CallOrigin`); the other steps are the lines of this function.
 *
 * Invariants: an intent is on record before anything is executed, and exactly
 * one completion or denial after it; when the intent cannot be recorded, the
 * call is refused.
 */

import { hash } from "node:crypto";
import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { canonicalJson, isJsonObject, type JsonObject, type SchemaValidator } from "@toolcrib/json";
import type { SecretScrubber } from "@toolcrib/redaction";
import { type CallContext, type ToolResult, textResult } from "@toolcrib/tool";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Decision, ToolPolicy } from "../tool-policy.ts";
import { previewArguments } from "./argument-preview.ts";
import { toAuditClient } from "./audit-client.ts";
import type { CallLog } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { jsonSize } from "./json-size.ts";
import { scrubCause, scrubError } from "./scrub-error.ts";

/** What the governed call works with. */
export interface GovernedCallDeps {
  readonly policy: ToolPolicy;
  readonly validator: SchemaValidator;
  readonly scrubber: SecretScrubber;
  readonly log: CallLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new unique id for a call. */
  readonly newCallId: () => string;
  readonly limits: {
    /** Largest result in bytes. */
    readonly resultMaxBytes: number;
    /** Most calls under way. */
    readonly maxConcurrentCalls: number;
    /** Deepest call within calls. */
    readonly maxDepth: number;
  };
  /** Calls under way, shared by all who call. */
  readonly underWay: { count: number };
}

/** Run `target` with `args` on account of `origin`; never rejects. */
export async function governedCall(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  origin: CallOrigin,
): Promise<CallOutcome> {
  const call = beginCall(deps, target, origin);
  const { callId, depth } = call.subject;
  const described = describeArguments(deps, args);
  // Authorise.
  const decision = decide(deps, target, origin);
  if (decision.kind === "deny") {
    deps.log.denied(call.subject, { ...described.facts, decision });
    return { ...decision, kind: "denied", callId };
  }
  // Contain: what may pass at all, how deep, and how much at a time.
  const refusal = described.error ?? refuse(deps, depth);
  if (refusal !== undefined) {
    deps.log.denied(call.subject, { ...described.facts, error: refusal });
    return { kind: "failed", callId, error: refusal };
  }
  // What a call calls is part of it.
  const places = depth === 0 ? 1 : 0;
  deps.underWay.count += places;
  try {
    // Record the intent, before anything happens.
    try {
      const { containment } = target;
      await deps.log.intent(call.subject, { ...described.facts, rule: decision.rule, containment });
    } catch (cause) {
      const error = unrecordedError(cause);
      deps.log.denied(call.subject, { ...described.facts, error });
      return { kind: "failed", callId, error };
    }
    deps.log.started();
    // Validate, execute, limit, validate the result and scrub it.
    const result =
      validateArguments(deps, target, args, callId) ?? (await execute(deps, target, args, origin, call));
    const resultBytes = limit(deps, result);
    validateResult(deps, target, result);
    const scrubbed = deps.scrubber.value(result) as unknown as ToolResult;
    deps.log.completed(call.subject, scrubbed, { durationMs: deps.now() - call.startedAt, resultBytes });
    return { kind: "result", callId, result: scrubbed };
  } catch (thrown) {
    const error = toCallError(deps, target, call, thrown);
    deps.log.failed(call.subject, error, deps.now() - call.startedAt);
    return { kind: "failed", callId, error };
  } finally {
    deps.underWay.count -= places;
  }
}

/** What is known of a call from its first moment. */
interface BegunCall {
  readonly subject: Parameters<CallLog["intent"]>[0];
  readonly startedAt: number;
}

function beginCall(deps: GovernedCallDeps, target: CallTarget, origin: CallOrigin): BegunCall {
  const { parent, identity, clientInfo } = origin;
  return {
    startedAt: deps.now(),
    subject: {
      callId: deps.newCallId(),
      ...(parent === undefined ? undefined : { parentId: parent.callId }),
      depth: parent === undefined ? 0 : parent.depth + 1,
      client: toAuditClient(identity, clientInfo),
      tool: shownId(deps, target),
      origin: target.origin,
      ...(target.server === undefined ? undefined : { server: target.server }),
    },
  };
}

/** The id for the record: of a resource it holds a URI, which may be long and may hold a secret. */
function shownId({ scrubber }: GovernedCallDeps, { id }: CallTarget): string {
  const shown = scrubber.text(id);
  return shown.length <= idMaxLength ? shown : `${shown.slice(0, idMaxLength)}…`;
}

/** Longest id in a record. */
const idMaxLength = 500;

function decide({ policy, scrubber }: GovernedCallDeps, target: CallTarget, origin: CallOrigin): Decision {
  const decision = policy.decide(origin.identity, target.id, target.wireName);
  return decision.kind === "allow" ? decision : { ...decision, reason: scrubber.text(decision.reason) };
}

function refuse({ limits, underWay }: GovernedCallDeps, depth: number): GatewayError | undefined {
  if (depth > limits.maxDepth) {
    return new GatewayError("CALL_TOO_DEEP", `Calls within calls go ${limits.maxDepth} deep at most`);
  }
  if (depth > 0 || underWay.count < limits.maxConcurrentCalls) return undefined;
  return new GatewayError("CALLS_OVERLOADED", `More than ${limits.maxConcurrentCalls} calls are under way`, {
    hint: "try again when other calls have ended, or raise serve.limits.max_concurrent_calls",
  });
}

/** The arguments for the record, or why they are not JSON (a program's own may be anything). */
function describeArguments({ scrubber }: GovernedCallDeps, args: JsonObject) {
  try {
    // Joined, and so in one piece: a text put together with + takes JSON.stringify twice as long.
    const argumentsDigest = ["sha256:", hash("sha256", canonicalJson(args), "hex")].join("");
    return {
      facts: { argumentsDigest, preview: previewArguments(args, (text) => scrubber.text(text)) },
      error: undefined,
    };
  } catch (cause) {
    const message = `The arguments are not JSON: ${messageOf(cause)}`;
    return { facts: {}, error: new GatewayError("PARAMS_INVALID", message, { cause }) };
  }
}

function unrecordedError(cause: unknown): GatewayError {
  return new GatewayError(
    "AUDIT_UNAVAILABLE",
    `The call was not made because it could not be recorded: ${messageOf(cause)}`,
    { hint: isCodedError(cause) ? cause.hint : undefined, cause },
  );
}

/** A result that names every problem, or undefined when the arguments fit. Models correct themselves from it. */
function validateArguments(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  callId: string,
): JsonObject | undefined {
  if (target.inputSchema === undefined) return undefined;
  const verdict = deps.validator.validate(target.inputSchema, args);
  if (verdict.kind === "valid") return undefined;
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
  const text = `Invalid arguments for "${target.wireName}":\n${lines.join("\n")}`;
  return {
    ...textResult(text, true),
    _meta: { "toolcrib/code": "ARGUMENTS_INVALID", "toolcrib/callId": callId },
  } as JsonObject;
}

/**
 * Run the target until it answers, its deadline passes or its caller cancels.
 * A target that heeds neither is left to itself: its caller is answered all the
 * same, and what it still says reaches nobody.
 */
function execute(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  origin: CallOrigin,
  call: BegunCall,
): Promise<JsonObject> {
  const { signal } = origin;
  if (signal?.aborted) throw cancelledError(signal.reason);
  const controller = new AbortController();
  const way = { isOpen: true };
  return new Promise((resolve, reject) => {
    const settle = () => {
      way.isOpen = false;
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    const end = (reason: GatewayError) => {
      controller.abort(reason);
      settle();
      reject(reason);
    };
    const cancel = () => end(cancelledError(signal?.reason));
    signal?.addEventListener("abort", cancel);
    const timer = setTimeout(() => end(timeoutError(target)), target.deadlineMs);
    const context = toContext(deps, target, origin, call, controller.signal, way);
    target.execute(args, context).then(
      (result) => {
        settle();
        resolve(result);
      },
      (thrown: unknown) => {
        settle();
        reject(thrown);
      },
    );
  });
}

/** The surroundings of one execution. `way`: back to the client, open as long as the call is under way. */
function toContext(
  { scrubber }: GovernedCallDeps,
  target: CallTarget,
  origin: CallOrigin,
  call: BegunCall,
  signal: AbortSignal,
  way: { readonly isOpen: boolean },
): CallContext {
  const { callId, parentId, depth } = call.subject;
  const { identity, era, meta, session, wantsProgress, wayBack } = origin;
  return {
    callId,
    parentId,
    depth,
    identity,
    era,
    signal,
    deadline: call.startedAt + target.deadlineMs,
    meta,
    session,
    wantsProgress,
    progress(params) {
      if (way.isOpen) wayBack.progress(scrubber.value(params));
    },
    notify(method, params) {
      if (way.isOpen) wayBack.notify(method, scrubber.value(params));
    },
    ask(method, params, askSignal) {
      if (way.isOpen) return wayBack.ask(method, scrubber.value(params), askSignal);
      return Promise.reject(
        new GatewayError("CALL_CANCELLED", `"${method}" was asked after the end of its call`),
      );
    },
  };
}

/** Why a call was cancelled; the end of an outer call ends what it calls for the same reason. */
function cancelledError(reason: unknown): GatewayError {
  const isOurs =
    reason instanceof GatewayError && (reason.code === "CALL_TIMEOUT" || reason.code === "CALL_CANCELLED");
  if (isOurs) return reason;
  return new GatewayError("CALL_CANCELLED", `The call was cancelled: ${messageOf(reason)}`, {
    cause: reason,
  });
}

function timeoutError(target: CallTarget): GatewayError {
  const seconds = target.deadlineMs / 1000;
  return new GatewayError("CALL_TIMEOUT", `"${target.wireName}" did not answer within ${seconds} s`, {
    hint:
      target.server === undefined || target.origin !== "server"
        ? undefined
        : `containment.max_execution_seconds of the tool server "${target.server}" sets this limit`,
    data: { timeoutSeconds: seconds },
  });
}

/** The size of a result. @throws {GatewayError} `RESULT_TOO_LARGE` */
function limit({ limits }: GovernedCallDeps, result: JsonObject): number {
  const size = jsonSize(result, limits.resultMaxBytes);
  if (size <= limits.resultMaxBytes) return size;
  throw new GatewayError("RESULT_TOO_LARGE", `The result is larger than ${limits.resultMaxBytes} bytes`, {
    hint: "ask the tool for less, or raise serve.limits.result_max_bytes",
  });
}

/** @throws {GatewayError} `RESULT_INVALID` */
function validateResult(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): void {
  const { outputSchema } = target;
  if (outputSchema === undefined || result["isError"] === true) return;
  const verdict = deps.validator.validate(outputSchema, result["structuredContent"]);
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
    `The result of "${target.wireName}" breaks the tool's own output schema:\n${lines.join("\n")}`,
    { hint: "tell whoever runs this server; the result was not passed on" },
  );
}

/** Any failure as the coded error that callers see. */
function toCallError(
  { scrubber }: GovernedCallDeps,
  target: CallTarget,
  call: BegunCall,
  thrown: unknown,
): CodedError {
  if (isCodedError(thrown)) return scrubError(scrubber, thrown);
  const text = `"${target.wireName}" failed: ${messageOf(thrown)} (call ${call.subject.callId})`;
  return new GatewayError("CALL_FAILED", scrubber.text(text), { cause: scrubCause(scrubber, thrown) });
}

/** Whether `value` can be the `arguments` of a call; absent arguments are empty. */
export function toArguments(value: unknown): JsonObject | undefined {
  if (value === undefined) return {};
  return isJsonObject(value) ? value : undefined;
}
