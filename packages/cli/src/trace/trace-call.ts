/**
 * `toolcrib trace`: shows a call as a tree with times: its inner calls, hooks,
 * approvals and requests with secrets. Reads the audit trail of the home through
 * its index, so it works with and without a running gateway.
 */

import { findRunningGateways } from "../access/run-file.ts";
import { openTrailReader } from "../audit/find-call.ts";
import { shownClient } from "../audit/record-row.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { traceLines } from "./print-trace.ts";
import { readHistory } from "./read-history.ts";
import { toTrace } from "./to-trace.ts";
import type { CallHistory, TraceNode } from "./trace-node.ts";

/** Runs the command. */
export async function traceCall(context: CliContext, id: string): Promise<ExitCode> {
  const { output, options } = context;
  await using reader = await openTrailReader(context);
  const history = await readHistory(reader, id);
  const trace = toTrace(history);
  const isRunning = findRunningGateways(options.home).length > 0;
  output.json({ ...headOf(history), isGatewayRunning: isRunning, trace: toJson(trace) });
  output.print(
    ...headLines(history).map((line) => output.style("dim", line)),
    "",
    ...traceLines(trace, output, { now: context.now(), isRunning }),
  );
  return exitCodes.done;
}

function headOf({ call }: CallHistory) {
  const { callId, intent, completion } = call;
  const data = intent?.data ?? completion?.data;
  return {
    callId,
    client: data?.client,
    parentId: data?.parentId,
    began: intent?.time ?? completion?.time,
    ended: completion?.time,
  };
}

function headLines(history: CallHistory): readonly string[] {
  const { callId, client, parentId, began } = headOf(history);
  const by = client === undefined ? "" : ` of ${shownClient(client)}`;
  const inside = parentId === undefined ? "" : `, inside ${parentId}`;
  return [safeLine(`call ${callId}${by}${inside}`), safeLine(`began ${began ?? "at an unknown time"}`)];
}

/** A node for programs: its start as a time of day, and only what is known. */
function toJson({ start, children, details, facts, ...node }: TraceNode): object {
  return {
    ...node,
    start: new Date(start).toISOString(),
    ...(facts ?? (details.length === 0 ? {} : { details })),
    ...(children.length === 0 ? {} : { children: children.map(toJson) }),
  };
}
