/** Reads what the audit trail says about a call, through its index: the tree of calls, the events of each, and the decisions about approvals. */

import type { AuditCall, AuditRecord } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { findCallId, type TrailReader, unknownCall } from "../audit/find-call.ts";
import { CliError } from "../cli-error.ts";
import type { CallHistory } from "./trace-node.ts";

/** Most events of one call that are read. */
const eventsMaxCount = 1000;
/** Most decisions that are searched for those of one call. */
const decisionsMaxCount = 1000;
/** Newest calls among which the last one is found that is no look-up of a command. */
const newestMaxCount = 100;
/** Deepest level from which the outermost call is found. */
const depthMax = 64;

/**
 * Reads the history of a call.
 *
 * @param id the id, the start of it, or `last`: the newest call of a client that is no look-up by a command, with all of its inner calls
 * @throws {CliError} `CLI_CALL_NOT_FOUND`, `CLI_USAGE` where several calls match
 */
export async function readHistory(reader: TrailReader, id: string): Promise<CallHistory> {
  const callId = id === "last" ? await lastCallId(reader) : await findCallId(reader, id, "trace");
  const call = await reader.show(callId);
  if (call === undefined) throw unknownCall(id);
  const calls = allCalls(call);
  const events = new Map<string, readonly AuditRecord[]>();
  for (const { callId: one } of calls) {
    // A whole id is the start of no other one.
    const records = await reader.list({ callId: one, limit: eventsMaxCount });
    events.set(one, records.filter(({ type }) => !isOfCall(type)).toReversed());
  }
  return { call, events, decisions: await readDecisions(reader, calls) };
}

function isOfCall(type: string): boolean {
  return type === "call.intent" || type === "call.completed" || type === "call.denied";
}

/** The outermost call of the newest record of a call. */
async function lastCallId(reader: TrailReader): Promise<string> {
  const latest = await reader.list({ type: ["call.intent", "call.denied"], limit: newestMaxCount });
  const newest = latest.find((record) => !isLookUp(record)) ?? latest[0];
  if (newest === undefined) {
    throw new CliError("CLI_CALL_NOT_FOUND", "The audit trail has no call yet", {
      hint: "make one with toolcrib call TOOL; each home has its own trail (--home)",
    });
  }
  let { callId, parentId } = newest.data as { readonly callId: string; readonly parentId?: string };
  for (let depth = 0; parentId !== undefined && depth < depthMax; depth += 1) {
    callId = parentId;
    const parent = await reader.list({ callId, type: "call.intent", limit: 1 });
    parentId = (parent[0]?.data as { readonly parentId?: string } | undefined)?.parentId;
  }
  return callId;
}

const cliIssuer = localIdentity("cli", "cli").issuer;

/** Whether a command of Toolcrib looked a tool up, as `toolcrib call` does to suggest a name. */
function isLookUp({ data }: AuditRecord): boolean {
  const { client, tool } = data as { readonly client?: { readonly issuer?: string }; readonly tool?: string };
  return (
    client?.issuer === cliIssuer && (tool === "toolcrib:search_tools" || tool === "toolcrib:describe_tool")
  );
}

function allCalls(call: AuditCall): readonly AuditCall[] {
  return [call, ...call.calls.flatMap(allCalls)];
}

/** Id of the approval that a call used up, or needs. */
export function approvalOf({ intent, completion }: AuditCall): string | undefined {
  const ended = completion?.data;
  return intent?.data.approval ?? (ended?.outcome === "denied" ? ended.approval : undefined);
}

async function readDecisions(
  reader: TrailReader,
  calls: readonly AuditCall[],
): Promise<CallHistory["decisions"]> {
  const wanted = new Set(calls.flatMap((call) => approvalOf(call) ?? []));
  const found = new Map<string, AuditRecord<"approval.call.granted" | "approval.call.denied">>();
  if (wanted.size === 0) return found;
  const records = await reader.list({
    type: ["approval.call.granted", "approval.call.denied"],
    limit: decisionsMaxCount,
  });
  for (const record of records) {
    if (record.type !== "approval.call.granted" && record.type !== "approval.call.denied") continue;
    if (wanted.has(record.data.approval)) found.set(record.data.approval, record);
  }
  return found;
}
