/** Tasks of earlier runs: each call is made to its end, with the id, the owner and the record that it began with. */

import { isCodedError } from "@toolcrib/diagnostics";
import type { Tasks } from "@toolcrib/extensions";
import type { ToolIndex } from "@toolcrib/inventory";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import { forClient, toWireResult } from "../service/outcome-to-wire.ts";
import type { LateTools } from "../sources/late-tools.ts";
import type { CallOrigin } from "./call-target.ts";
import type { CallTargets } from "./call-targets.ts";
import { type ResumedCall, resumedCall } from "./governed-call.ts";
import type { GovernedCallDeps } from "./governed-call-deps.ts";

/** Dependencies of the tasks of earlier runs. */
export interface ResumeDeps {
  readonly calls: GovernedCallDeps;
  readonly tasks: Tasks;
  readonly index: Pick<ToolIndex, "find">;
  readonly targets: Pick<CallTargets, "forTool">;
  readonly lateTools: Pick<LateTools, "target">;
}

/** Follows the tasks of earlier runs. */
export function resumeTasks({ calls, tasks, index, targets, lateTools }: ResumeDeps): void {
  tasks.resume(async ({ owner, era, tool, call: begun, clientCapabilities }, more) => {
    const { subject } = begun;
    const origin: CallOrigin = {
      ...more,
      identity: owner,
      era,
      session: undefined,
      meta: undefined,
      clientInfo: subject.client.clientInfo,
      clientCapabilities,
      parent: undefined,
      isDirect: true,
      wantsProgress: false,
    };
    const entry = index.find(tool);
    const call = { identity: owner, name: tool, serverId: undefined, signal: more.signal };
    const found = entry === undefined ? lateTools.target(call) : targets.forTool(entry);
    const target = await Promise.resolve(found).catch((error: unknown) => error as Error);
    if (target instanceof Error) return toWireResult(failed(calls, begun, origin, target), era);
    const outcome = await resumedCall(calls, target, origin, begun);
    return toWireResult(forClient(outcome, owner, target), era);
  });
}

/** Records the end of a call whose tool does not exist any more. */
function failed(
  { log, now }: GovernedCallDeps,
  { subject, startedAt }: ResumedCall,
  { task }: CallOrigin,
  thrown: Error,
): CallOutcome {
  const error = isCodedError(thrown) ? thrown : new GatewayError("CALL_FAILED", thrown.message);
  const call = { subject, startedAt, usedMs: 0, trace: undefined };
  if (task?.isLeft !== true) log.failed(call, error, { durationMs: now() - startedAt, hooks: undefined });
  return { kind: "failed", callId: subject.callId, error };
}
