/**
 * Reports the events of a call to the audit trail, to the metrics, to its trace and, for
 * failures, to the program log. The governed call reports events; this file
 * decides where each goes.
 */

import type { CodedError, Logger } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { Decision, TrustViolation } from "@toolcrib/policy";
import {
  type AuditCallSubject,
  type AuditEvents,
  type AuditStore,
  type HookRecord,
  recordOrLog,
} from "@toolcrib/store";
import { isInputRequired, type ToolResult } from "@toolcrib/tool";
import type { CallTrace, TraceCall } from "../telemetry/traced-call.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";

/** The arguments of a call in the form for the audit; empty for arguments that are not JSON, whose call is never dispatched. */
export interface ArgumentFacts {
  readonly argumentsDigest?: string;
  readonly preview?: JsonObject;
}

/** Answers of hooks; undefined where none was asked. */
type HookRecords = readonly HookRecord[] | undefined;

/** Counters of calls; labels are server ids. */
export interface CallMetrics {
  callStarted(): void;
  callFinished(server: string, outcome: "ok" | "tool_error" | "failed" | "cancelled", seconds: number): void;
  callDenied(server: string): void;
  /** Begins the trace of a call; undefined where no telemetry is configured. */
  readonly trace?: TraceCall | undefined;
}

/** The facts about a call that are known when it begins. */
export interface BegunCall {
  readonly subject: AuditCallSubject;
  readonly startedAt: number;
  readonly trace: CallTrace | undefined;
  /** Milliseconds of its deadline that hooks used before it is executed. */
  readonly usedMs: number;
}

/** Dependencies of a call log. */
export interface CallLogDeps {
  readonly audit: Pick<AuditStore, "intent" | "record">;
  readonly metrics: CallMetrics;
  readonly logger: Logger;
}

/** Maximum number of different warnings. */
const maxWarnings = 10_000;

/** Receives the events of governed calls. */
export class CallLog {
  readonly #deps: CallLogDeps;
  readonly #warned = new Set<string>();

  constructor(deps: CallLogDeps) {
    this.#deps = deps;
  }

  /** Begins the trace of a call. */
  trace(subject: AuditCallSubject, target: CallTarget, origin: CallOrigin): CallTrace | undefined {
    return this.#deps.metrics.trace?.(subject, target, origin);
  }

  /** Resolves when the intent is on record. @throws {StoreError} when it cannot be. */
  intent(
    subject: AuditCallSubject,
    facts: ArgumentFacts & {
      readonly rule: string;
      readonly containment: string | undefined;
      /** Id of the approval that the call uses up. */
      readonly approval: string | undefined;
      /** Whether nothing is executed: it was made before, in a call that is continued now. */
      readonly isRepeated?: true;
      /** Labels of the data that its run and its client had received; absent where no source has labels. */
      readonly labels?: readonly string[];
      readonly seenLabels?: readonly string[];
      /** Fingerprints of the arguments. */
      readonly fingerprints: AuditEvents["call.intent"]["fingerprints"];
      readonly hooks: HookRecords;
    },
  ): Promise<void> {
    const {
      argumentsDigest = "",
      preview,
      rule,
      containment,
      approval,
      isRepeated,
      labels,
      seenLabels,
      fingerprints,
      hooks,
    } = facts;
    const used = approval === undefined ? undefined : { approval };
    const decision = "allow";
    return this.#deps.audit.intent({
      ...subject,
      argumentsDigest,
      preview,
      fingerprints,
      decision,
      rule,
      containment,
      ...used,
      ...(isRepeated === undefined ? undefined : { isRepeated }),
      ...(hooks === undefined ? undefined : { hooks }),
      ...(labels === undefined ? undefined : { labels, seenLabels }),
    });
  }

  /** The intent is on record, and the call is dispatched. */
  started({ trace }: BegunCall, facts: Parameters<CallTrace["dispatched"]>[0]): void {
    this.#deps.metrics.callStarted();
    trace?.dispatched(facts);
  }

  denied(
    { subject, trace }: BegunCall,
    facts: ArgumentFacts & {
      readonly decision?: Decision & { kind: "deny" };
      readonly error?: CodedError;
      /** Id of the rule, where no decision of the policy names one. */
      readonly rule?: string | undefined;
      /** Whether it was refused because it has no approval. */
      readonly isApprovalMissing?: boolean;
      /** Id of the approval that it needs, or had. */
      readonly approval?: string | undefined;
      /** Whether that approval is valid again. */
      readonly isApprovalReturned?: true;
      readonly hooks?: HookRecords;
    },
  ): void {
    const { argumentsDigest, preview, decision, error, approval, isApprovalReturned, hooks } = facts;
    const code = decision?.code ?? error?.code ?? "CALL_REFUSED";
    const reason = decision?.reason ?? error?.message;
    const rule = decision?.rule ?? facts.rule;
    const kind = facts.isApprovalMissing === true ? "approve" : "deny";
    recordOrLog(this.#deps, "call.denied", {
      ...subject,
      outcome: "denied",
      decision: kind,
      argumentsDigest,
      preview,
      rule,
      code,
      reason,
      ...(approval === undefined ? undefined : { approval, isApprovalReturned }),
      ...(hooks === undefined ? undefined : { hooks }),
    });
    const { metrics, logger } = this.#deps;
    metrics.callDenied(serverOf(subject));
    trace?.denied({ decision: kind, rule, code });
    logger.info({ callId: subject.callId, tool: subject.tool, code, reason }, "call was denied");
  }

  /** A call breaks what the operator declared about its server. A blocked one is also reported as denied. */
  violation(subject: AuditCallSubject, { rule, reason }: TrustViolation): void {
    const { callId, client, tool, server } = subject;
    const effect = rule.effect === "block" ? "blocked" : "recorded";
    recordOrLog(this.#deps, rule.event, { callId, client, tool, server, rule: rule.id, reason, effect });
  }

  /** A result has sentences that are addressed to a model. */
  suspicious(
    { callId, client, tool, server }: AuditCallSubject,
    findings: AuditEvents["result.suspicious"]["findings"],
  ): void {
    if (findings.length > 0)
      recordOrLog(this.#deps, "result.suspicious", { callId, client, tool, server, findings });
  }

  completed(
    { subject, trace }: BegunCall,
    result: ToolResult,
    facts: Pick<AuditEvents["call.completed"], "fingerprints" | "labels" | "hooks"> & {
      readonly durationMs: number;
      readonly resultBytes: number;
    },
  ): void {
    const { durationMs, resultBytes } = facts;
    const isError = result.isError === true;
    const code = codeOf(result);
    const outcome = isError ? "tool_error" : "ok";
    recordOrLog(this.#deps, "call.completed", { ...subject, outcome, code, ...facts });
    this.#deps.metrics.callFinished(serverOf(subject), outcome, durationMs / 1000);
    trace?.finished({ outcome, code, durationMs, resultBytes });
  }

  failed(
    { subject, trace }: BegunCall,
    error: CodedError,
    facts: Pick<AuditEvents["call.completed"], "labels"> & {
      readonly durationMs: number;
      readonly hooks: HookRecords;
    },
  ): void {
    const { durationMs, hooks, labels } = facts;
    const { metrics, logger } = this.#deps;
    const isCancelled = error.code === "CALL_CANCELLED" || error.code === "CALL_PAUSED";
    const outcome = isCancelled ? "cancelled" : "failed";
    recordOrLog(this.#deps, "call.completed", {
      ...subject,
      outcome,
      code: error.code,
      durationMs,
      ...(hooks === undefined ? undefined : { hooks }),
      ...(labels === undefined ? undefined : { labels }),
    });
    metrics.callFinished(serverOf(subject), outcome, durationMs / 1000);
    trace?.finished({ outcome, code: error.code, durationMs });
    const { callId, tool } = subject;
    const fields = { callId, tool, code: error.code, reason: error.message, durationMs };
    // A cancellation by the client or the operator is no reason for a warning.
    if (outcome === "cancelled") logger.info(fields, "call was cancelled");
    else logger.warn(fields, "call failed");
  }

  /** Logs a warning once: a schema that cannot be used is not reported with every call. */
  warn(fields: object, message: string): void {
    const key = `${message} ${JSON.stringify(fields)}`;
    if (this.#warned.has(key) || this.#warned.size > maxWarnings) return;
    this.#warned.add(key);
    this.#deps.logger.warn(fields, message);
  }
}

/** The code of a result that is not the end of its call, or that the gateway made. */
function codeOf(result: ToolResult): string | undefined {
  if (isInputRequired(result)) return "INPUT_REQUIRED";
  return result._meta?.["toolcrib/code"] === "ARGUMENTS_INVALID" ? "ARGUMENTS_INVALID" : undefined;
}

function serverOf({ server, origin }: AuditCallSubject): string {
  return server ?? origin;
}
