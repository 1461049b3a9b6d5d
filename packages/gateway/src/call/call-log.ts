/**
 * Reports the events of a call to the audit trail, to the metrics and, for
 * failures, to the program log. The governed call reports events; this file
 * decides where each goes.
 */

import { type CodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { Decision } from "@toolcrib/policy";
import type { AuditCallSubject, AuditStore } from "@toolcrib/store";
import type { ToolResult } from "@toolcrib/tool";

/** The arguments of a call in the form for the audit; empty for arguments that are not JSON, whose call is never dispatched. */
export interface ArgumentFacts {
  readonly argumentsDigest?: string;
  readonly preview?: JsonObject;
}

/** Counters of calls; labels are server ids. */
export interface CallMetrics {
  callStarted(): void;
  callFinished(server: string, outcome: "ok" | "tool_error" | "failed" | "cancelled", seconds: number): void;
  callDenied(server: string): void;
}

/** Receives the events of governed calls. */
export interface CallLog {
  /** Resolves when the intent is on record. @throws {StoreError} when it cannot be. */
  intent(
    subject: AuditCallSubject,
    facts: ArgumentFacts & { readonly rule: string; readonly containment: string | undefined },
  ): Promise<void>;
  /** The intent is on record, and the call is dispatched. */
  started(): void;
  denied(
    subject: AuditCallSubject,
    facts: ArgumentFacts & {
      readonly decision?: Decision & { kind: "deny" };
      readonly error?: CodedError;
    },
  ): void;
  completed(
    subject: AuditCallSubject,
    result: ToolResult,
    facts: { readonly durationMs: number; readonly resultBytes: number },
  ): void;
  failed(subject: AuditCallSubject, error: CodedError, durationMs: number): void;
  warn(fields: object, message: string): void;
}

/** Creates the log over its three streams. */
export function createCallLog(deps: {
  readonly audit: Pick<AuditStore, "intent" | "record">;
  readonly metrics: CallMetrics;
  readonly logger: Logger;
}): CallLog {
  const { audit, metrics, logger } = deps;
  const warned = new Set<string>();
  /** A trail that is closing refuses a completion; the call is answered regardless. */
  const record: typeof audit.record = (type, data) => {
    try {
      audit.record(type, data);
    } catch (error) {
      logger.error({ type, reason: messageOf(error) }, "audit record could not be written");
    }
  };
  const serverOf = (subject: AuditCallSubject) => subject.server ?? subject.origin;

  return {
    intent: (subject, { argumentsDigest = "", preview, rule, containment }) =>
      audit.intent({ ...subject, argumentsDigest, preview, decision: "allow", rule, containment }),
    started: () => metrics.callStarted(),
    denied(subject, { argumentsDigest, preview, decision, error }) {
      const code = decision?.code ?? error?.code ?? "CALL_REFUSED";
      const reason = decision?.reason ?? error?.message;
      record("call.denied", {
        ...subject,
        outcome: "denied",
        decision: "deny",
        argumentsDigest,
        preview,
        rule: decision?.rule,
        code,
        reason,
      });
      metrics.callDenied(serverOf(subject));
      logger.info({ callId: subject.callId, tool: subject.tool, code, reason }, "call was denied");
    },
    completed(subject, result, { durationMs, resultBytes }) {
      const isError = result.isError === true;
      const code = result._meta?.["toolcrib/code"] === "ARGUMENTS_INVALID" ? "ARGUMENTS_INVALID" : undefined;
      const outcome = isError ? "tool_error" : "ok";
      record("call.completed", { ...subject, outcome, code, durationMs, resultBytes });
      metrics.callFinished(serverOf(subject), outcome, durationMs / 1000);
    },
    failed(subject, error, durationMs) {
      const outcome = error.code === "CALL_CANCELLED" ? "cancelled" : "failed";
      record("call.completed", { ...subject, outcome, code: error.code, durationMs });
      metrics.callFinished(serverOf(subject), outcome, durationMs / 1000);
      const { callId, tool } = subject;
      const fields = { callId, tool, code: error.code, reason: error.message, durationMs };
      // A cancellation by the client is no reason for a warning.
      if (outcome === "cancelled") logger.info(fields, "call was cancelled");
      else logger.warn(fields, "call failed");
    },
    warn(fields, message) {
      // A schema that cannot be used is reported once, not with every call.
      const key = `${message} ${JSON.stringify(fields)}`;
      if (warned.has(key) || warned.size > 10_000) return;
      warned.add(key);
      logger.warn(fields, message);
    },
  };
}
