/**
 * The whole life of a call. Every execution of every origin passes through
 * `governedCall`: from a client, from the command line, from inside another
 * tool. There is no second door.
 *
 * resolve → identify → authorise → contain → validate → execute → validate
 * result → scrub → record. Resolving happens before (`CallTarget`), identifying
 * at the edge (`CallOrigin`); the other steps are the lines of this function.
 *
 * Invariants: an intent is on record before anything is executed, and exactly
 * one completion or denial after it; when the intent cannot be recorded, the
 * call is refused.
 */

import { hash } from "node:crypto";
import { CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { canonicalJson, isJsonObject, type JsonObject, type SchemaValidator } from "@toolcrib/json";
import { mcpCancelled, mcpConnectionClosed } from "@toolcrib/mcp";
import { auditRecordTooLarge, auditUnwritable, storeClosed } from "@toolcrib/store";
import { type CallContext, type ToolResult, textResult } from "@toolcrib/tool";
import {
  argumentsInvalid,
  auditUnavailable,
  callCancelled,
  callFailed,
  callsOverloaded,
  callTimeout,
  callTooDeep,
  resultInvalid,
  resultTooLarge,
} from "../codes.ts";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import type { ToolPolicy } from "../tool-policy.ts";
import { previewArguments } from "./argument-preview.ts";
import type { CallLog } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";
import { jsonSize } from "./json-size.ts";
import type { SecretScrubber } from "./secret-scrubber.ts";

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
  const { callId } = call.subject;
  // Authorise.
  const decision = deps.policy.decide(origin.identity, target.id, target.wireName);
  if (decision.kind === "deny") {
    deps.log.denied(call.subject, { ...describeArguments(deps, args), decision });
    return { ...decision, kind: "denied", callId };
  }
  // Contain: how much may be under way, and how deep.
  const refusal = refuse(deps, call.subject.depth);
  if (refusal !== undefined) {
    deps.log.denied(call.subject, { ...describeArguments(deps, args), error: refusal });
    return { kind: "failed", callId, error: refusal };
  }
  deps.underWay.count += 1;
  try {
    // Record the intent, before anything happens.
    await deps.log.intent(call.subject, {
      ...describeArguments(deps, args),
      rule: decision.rule,
      containment: target.containment,
    });
    // Validate, execute, validate the result, limit and scrub it.
    const result =
      validateArguments(deps, target, args) ??
      scrub(deps, limit(deps, validateResult(deps, target, await execute(deps, target, args, origin, call))));
    deps.log.completed(call.subject, result, deps.now() - call.startedAt);
    return { kind: "result", callId, result };
  } catch (thrown) {
    const error = toCallError(deps, target, call, thrown);
    deps.log.failed(call.subject, error, deps.now() - call.startedAt);
    return { kind: "failed", callId, error };
  } finally {
    deps.underWay.count -= 1;
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
      client: clientInfo === undefined ? identity : { ...identity, clientInfo },
      tool: target.id,
      origin: target.origin,
      ...(target.server === undefined ? undefined : { server: target.server }),
    },
  };
}

function refuse({ limits, underWay }: GovernedCallDeps, depth: number): GatewayError | undefined {
  if (depth > limits.maxDepth) {
    return new GatewayError(callTooDeep, `Calls within calls go ${limits.maxDepth} deep at most`);
  }
  if (underWay.count < limits.maxConcurrentCalls) return undefined;
  return new GatewayError(callsOverloaded, `More than ${limits.maxConcurrentCalls} calls are under way`, {
    hint: "try again when other calls have ended, or raise serve.limits.max_concurrent_calls",
  });
}

function describeArguments(deps: GovernedCallDeps, args: JsonObject) {
  return {
    argumentsDigest: `sha256:${hash("sha256", canonicalJson(args), "hex")}`,
    preview: deps.scrubber.value(previewArguments(args)),
  };
}

/** A result that names every problem, or undefined when the arguments fit. Models correct themselves from it. */
function validateArguments(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
): ToolResult | undefined {
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
  return { ...textResult(deps.scrubber.text(text), true), _meta: { "toolcrib/code": argumentsInvalid } };
}

async function execute(
  deps: GovernedCallDeps,
  target: CallTarget,
  args: JsonObject,
  origin: CallOrigin,
  call: BegunCall,
): Promise<JsonObject> {
  const controller = new AbortController();
  const { signal } = origin;
  const cancel = () => controller.abort(signal?.reason);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  const timer = setTimeout(() => controller.abort(timeoutError(target)), target.deadlineMs);
  const { callId, parentId, depth } = call.subject;
  const context: CallContext = {
    callId,
    parentId,
    depth,
    identity: origin.identity,
    era: origin.era,
    signal: controller.signal,
    deadline: call.startedAt + target.deadlineMs,
    meta: origin.meta,
    session: origin.session,
    wantsProgress: origin.wantsProgress,
    progress: (params) => origin.progress(deps.scrubber.value(params)),
    notify: (method, params) => origin.notify(method, deps.scrubber.value(params)),
    ask: (method, params, askSignal) => origin.ask(method, deps.scrubber.value(params), askSignal),
  };
  try {
    controller.signal.throwIfAborted();
    return await target.execute(args, context);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function timeoutError(target: CallTarget): GatewayError {
  const seconds = target.deadlineMs / 1000;
  return new GatewayError(callTimeout, `"${target.wireName}" did not answer within ${seconds} s`, {
    hint:
      target.server === undefined
        ? undefined
        : `containment.max_execution_seconds of the tool server "${target.server}" sets this limit`,
    data: { timeoutSeconds: seconds },
  });
}

function validateResult(deps: GovernedCallDeps, target: CallTarget, result: JsonObject): JsonObject {
  const { outputSchema } = target;
  if (outputSchema === undefined || result["isError"] === true) return result;
  const verdict = deps.validator.validate(outputSchema, result["structuredContent"]);
  if (verdict.kind === "valid") return result;
  if (verdict.kind === "unusable") {
    deps.log.warn(
      { tool: target.id, reason: verdict.reason },
      "output schema cannot be used; the result passes unchecked",
    );
    return result;
  }
  const lines = verdict.problems.map(({ path, message }) => `- structuredContent${path} ${message}`);
  throw new GatewayError(
    resultInvalid,
    `The result of "${target.wireName}" breaks the tool's own output schema:\n${lines.join("\n")}`,
    { hint: "tell whoever runs this server; the result was not passed on" },
  );
}

function limit({ limits }: GovernedCallDeps, result: JsonObject): JsonObject {
  const size = jsonSize(result, limits.resultMaxBytes);
  if (size <= limits.resultMaxBytes) return result;
  throw new GatewayError(resultTooLarge, `The result is larger than ${limits.resultMaxBytes} bytes`, {
    hint: "ask the tool for less, or raise serve.limits.result_max_bytes",
  });
}

function scrub({ scrubber }: GovernedCallDeps, result: JsonObject): ToolResult {
  return scrubber.value(result) as unknown as ToolResult;
}

/** The store's refusals of an intent. */
const unrecordable: ReadonlySet<string> = new Set([auditUnwritable, auditRecordTooLarge, storeClosed]);

/** Any failure as the coded error that callers see; cancellation and deadline win over what they caused. */
function toCallError(
  { scrubber }: GovernedCallDeps,
  target: CallTarget,
  call: BegunCall,
  thrown: unknown,
): CodedError {
  if (isCodedError(thrown)) {
    const isCancelled = thrown.code === mcpCancelled || thrown.code === mcpConnectionClosed;
    if (isCancelled)
      return new GatewayError(callCancelled, `The call was cancelled: ${thrown.message}`, { cause: thrown });
    if (unrecordable.has(thrown.code)) {
      return new GatewayError(
        auditUnavailable,
        `The call was not made because it could not be recorded: ${thrown.message}`,
        {
          hint: thrown.hint,
          cause: thrown,
        },
      );
    }
    return scrubbed(scrubber, thrown);
  }
  const isAbort = (thrown as { name?: unknown } | undefined)?.name === "AbortError";
  if (isAbort) return new GatewayError(callCancelled, "The call was cancelled", { cause: thrown });
  const text = `"${target.wireName}" failed: ${scrubber.text(messageOf(thrown))} (call ${call.subject.callId})`;
  return new GatewayError(callFailed, text, { cause: thrown });
}

function scrubbed(scrubber: SecretScrubber, error: CodedError): CodedError {
  const message = scrubber.text(error.message);
  const hint = error.hint === undefined ? undefined : scrubber.text(error.hint);
  const data = error.data === undefined ? undefined : scrubber.value(error.data);
  if (message === error.message && hint === error.hint && data === error.data) return error;
  return new CodedError(error.code, message, { hint, data, cause: error });
}

/** Whether `value` can be the `arguments` of a call; absent arguments are empty. */
export function toArguments(value: unknown): JsonObject | undefined {
  if (value === undefined) return {};
  return isJsonObject(value) ? value : undefined;
}
