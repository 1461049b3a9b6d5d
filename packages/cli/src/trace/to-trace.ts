/** Turns the history of a call into the tree of its trace. Pure. */

import type { AuditCall, AuditRecord, HookRecord } from "@toolcrib/store";
import { detailOf } from "../audit/record-detail.ts";
import { approvalOf } from "./read-history.ts";
import type { CallHistory, TraceNode } from "./trace-node.ts";

/** Returns the tree of a call. */
export function toTrace(history: CallHistory): TraceNode {
  return callNode(history.call, history);
}

function callNode(call: AuditCall, history: CallHistory): TraceNode {
  const { callId, intent, completion } = call;
  const ended = completion?.data;
  const durationMs = durationOf(call);
  const endedAt = completion === undefined ? undefined : Date.parse(completion.time);
  const start = intent === undefined ? (endedAt ?? 0) - (durationMs ?? 0) : Date.parse(intent.time);
  const asked = intent?.data.hooks ?? (ended?.outcome === "denied" ? ended.hooks : undefined) ?? [];
  const after = ended?.outcome === "denied" ? [] : (ended?.hooks ?? []);
  const total = (hooks: readonly HookRecord[]) => hooks.reduce((sum, hook) => sum + hook.durationMs, 0);
  const children = [
    // The intent is recorded after the hooks before the call, one after the other.
    ...hookNodes(callId, asked, "before", intent === undefined ? start : start - total(asked)),
    ...approvalNodes(call, history, start),
    ...(history.events.get(callId) ?? []).map((record) => eventNode(callId, record)),
    ...call.calls.map((inner) => callNode(inner, history)),
    ...hookNodes(callId, after, "after", (endedAt ?? start) - total(after)),
  ];
  return {
    kind: "call",
    name: (intent ?? completion)?.data.tool ?? "unknown tool",
    callId,
    start,
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(ended === undefined ? { isOpen: true } : { outcome: ended.outcome }),
    details: callDetails(call),
    facts: callFacts(call),
    children: children.toSorted((one, other) => one.start - other.start),
    ...(call.truncated === true ? { isTruncated: true } : {}),
  };
}

function durationOf({ intent, completion }: AuditCall): number | undefined {
  if (completion?.data.durationMs !== undefined) return completion.data.durationMs;
  if (intent === undefined || completion === undefined) return undefined;
  return Math.max(0, Date.parse(completion.time) - Date.parse(intent.time));
}

/** The decision about a call, its limits, labels and sizes. */
function callDetails({ intent, completion }: AuditCall): readonly string[] {
  const asked = intent?.data;
  const ended = completion?.data;
  const denied = ended?.outcome === "denied" ? ended : undefined;
  const done = ended?.outcome === "denied" ? undefined : ended;
  const rule = (asked ?? denied)?.rule;
  const by = rule === undefined ? "" : ` by ${rule}`;
  const labels = done?.labels ?? asked?.labels ?? [];
  const facts: readonly (string | undefined)[] = [
    denied === undefined
      ? `allowed${by}`
      : `${denied.decision === "approve" ? "needs approval" : "denied"}${by}`,
    asked?.containment,
    asked?.isRepeated === true ? "made before, its result is used again" : undefined,
    asked?.continues === undefined ? undefined : `continues ${asked.continues}`,
    labels.length === 0 ? undefined : `labels ${labels.join(", ")}`,
    done?.resultBytes === undefined ? undefined : `${done.resultBytes} bytes`,
    ended?.code,
    denied?.reason,
    denied?.isApprovalReturned === true ? "its approval is valid again" : undefined,
    done?.outcome === "tool_error"
      ? "the tool answered with an error, whose text the audit trail does not keep"
      : undefined,
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** The facts of `callDetails` with their names, and those that are too long for people. */
function callFacts({ intent, completion }: AuditCall): { readonly [name: string]: unknown } {
  const asked = intent?.data;
  const ended = completion?.data;
  const denied = ended?.outcome === "denied" ? ended : undefined;
  const done = ended?.outcome === "denied" ? undefined : ended;
  return {
    decision: denied?.decision ?? asked?.decision,
    rule: (asked ?? denied)?.rule,
    origin: (asked ?? ended)?.origin,
    server: (asked ?? ended)?.server,
    containment: asked?.containment,
    continues: asked?.continues,
    isRepeated: asked?.isRepeated,
    isApprovalReturned: denied?.isApprovalReturned,
    labels: done?.labels ?? asked?.labels,
    resultBytes: done?.resultBytes,
    code: ended?.code,
    reason: denied?.reason,
  };
}

function hookNodes(
  callId: string,
  hooks: readonly HookRecord[],
  phase: "before" | "after",
  from: number,
): readonly TraceNode[] {
  let start = from;
  return hooks.map(({ hook, decision, durationMs, reason }) => {
    const node: TraceNode = {
      kind: "hook",
      name: `hook ${hook} (${phase})`,
      callId,
      start,
      durationMs,
      outcome: decision,
      details: reason === undefined ? [] : [reason],
      children: [],
    };
    start += durationMs;
    return node;
  });
}

/** The approval that a call used up, or waits for. */
function approvalNodes(call: AuditCall, { decisions }: CallHistory, start: number): readonly TraceNode[] {
  const approval = approvalOf(call);
  if (approval === undefined) return [];
  const decision = decisions.get(approval);
  const by = decision === undefined ? [] : [`decided by ${decision.data.decidedBy.name}, ${decision.time}`];
  return [
    {
      kind: "approval",
      name: `approval ${approval}`,
      callId: call.callId,
      start: decision === undefined ? start : Date.parse(decision.time),
      outcome:
        decision === undefined ? "waiting" : decision.type === "approval.call.granted" ? "granted" : "denied",
      details: by,
      children: [],
    },
  ];
}

function eventNode(callId: string, record: AuditRecord): TraceNode {
  const detail = detailOf(record);
  return {
    kind: "event",
    name: record.type,
    callId,
    start: Date.parse(record.time),
    details: detail === "" ? [] : [detail],
    children: [],
  };
}
