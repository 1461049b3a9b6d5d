/** Reads a call with its inner calls from the index, with limits on depth and number. */

import type { AuditRecord } from "./audit-event.ts";
import { type AuditCall, treeMaxCalls, treeMaxDepth } from "./audit-query.ts";
import type { IndexStatements, PointerRow } from "./index-statements.ts";
import type { RecordFiles } from "./record-files.ts";

/** Returns the tree below `callId`; `undefined` when it has no records. */
export function showCall(
  statements: IndexStatements,
  files: RecordFiles,
  callId: string,
): AuditCall | undefined {
  const seen = new Set([callId]);
  const tree = toCall(statements, files, { callId, depth: 0, seen });
  const isKnown = tree.intent !== undefined || tree.completion !== undefined || tree.calls.length > 0;
  return isKnown ? tree : undefined;
}

interface Place {
  readonly callId: string;
  readonly depth: number;
  /** All calls of the tree so far, so that a forged cycle ends. */
  readonly seen: Set<string>;
}

function toCall(statements: IndexStatements, files: RecordFiles, { callId, depth, seen }: Place): AuditCall {
  let intent: AuditRecord<"call.intent"> | undefined;
  let completion: AuditRecord<"call.completed" | "call.denied"> | undefined;
  for (const row of statements.callRecords.all(callId) as unknown as PointerRow[]) {
    const record = files.read(row);
    if (record?.type === "call.intent") intent ??= record;
    else if (record?.type === "call.completed" || record?.type === "call.denied") completion ??= record;
  }
  const calls: AuditCall[] = [];
  let isTruncated = false;
  const inner = statements.innerCalls.all(callId, treeMaxCalls) as unknown as { readonly call: string }[];
  for (const { call } of inner) {
    if (seen.has(call)) continue;
    if (depth + 1 >= treeMaxDepth || seen.size >= treeMaxCalls) {
      isTruncated = true;
      break;
    }
    seen.add(call);
    calls.push(toCall(statements, files, { callId: call, depth: depth + 1, seen }));
  }
  return {
    callId,
    ...(intent === undefined ? {} : { intent }),
    ...(completion === undefined ? {} : { completion }),
    calls,
    ...(isTruncated ? { truncated: true as const } : {}),
  };
}
