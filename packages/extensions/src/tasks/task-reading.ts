/**
 * Decides whether the result of a task may be read now. A result can be read long after its call was admitted: what the operator
 * decided meanwhile counts. The policy of now decides about the call with the facts of then.
 *
 * A result that is withheld is kept: it can be read when its tool may be used again.
 */

import type { Pauses } from "@toolcrib/admission";
import {
  type AccessSubject,
  type GatewayPolicy,
  type SourceRoster,
  type ToolIndex,
  unknownSubject,
} from "@toolcrib/inventory";
import type { Identity } from "@toolcrib/tool";
import { ExtensionsError } from "../extensions-error.ts";
import type { Task } from "./task.ts";

/** The facts that decide whether a result may be read. */
export interface TaskReadingDeps {
  readonly index: Pick<ToolIndex, "find" | "quarantined">;
  readonly policy: Pick<GatewayPolicy, "decide" | "allowsListing">;
  readonly roster: Pick<SourceRoster, "entries">;
  readonly pauses: Pick<Pauses, "refusal">;
}

/** Whether a task does not exist for `reader`: the policy of now does not list its tool for it. */
export function isHidden(deps: TaskReadingDeps, task: Task, reader: Identity): boolean {
  const subject = subjectOf(deps, task);
  return typeof subject !== "string" && !deps.policy.allowsListing(reader, subject);
}

/** Returns why `reader` may not read the result of its task now; undefined where it may. */
export function whyWithheld(
  deps: TaskReadingDeps,
  task: Task,
  reader: Identity,
): ExtensionsError | undefined {
  const subject = subjectOf(deps, task);
  if (typeof subject === "string") return withheld(subject);
  const { policy, pauses } = deps;
  const { tool, server, era } = task.facts;
  const { call } = task;
  const args = call?.arguments;
  const facts = () => ({
    args: args ?? {},
    depth: 0,
    parentTool: "",
    era,
    now: call?.startedAt ?? task.facts.createdAt,
    labels: [],
    seenLabels: [],
  });
  // Without the arguments, rules about them decided when the call was made.
  const isAllowed = args === undefined || policy.decide(reader, subject, "call", facts).kind === "allow";
  if (!isAllowed) return withheld("the policy does not allow this call");
  const target = { id: subject.id, wireName: subject.wireName, server, shownName: tool, isOwn: false };
  const paused = pauses.refusal(target, { identity: reader, owners: undefined });
  return paused === undefined ? undefined : withheld("its calls are paused");
}

/** The tool as the policy sees it, or why it is not offered. */
function subjectOf({ index, roster }: TaskReadingDeps, { facts }: Task): AccessSubject | string {
  const { tool, server } = facts;
  if (index.quarantined.some(({ id }) => id === tool)) return "its tool is quarantined";
  const source = roster.entries.find(({ id }) => id === server);
  if (source === undefined) return "its server is not configured";
  const { state } = source.source.health();
  if (state === "quarantined") return "its server is quarantined";
  const entry = index.find(tool);
  if (entry !== undefined) return entry;
  // A server that is down does not take the results that it gave before.
  if (state === "ready") return "its tool is not offered any more";
  return unknownSubject(source, tool.slice(tool.indexOf(":") + 1));
}

function withheld(reason: string): ExtensionsError {
  return new ExtensionsError("TASK_RESULT_WITHHELD", `The result of the task is withheld: ${reason}`, {
    hint: "it is kept until the task expires, and can be read when the tool may be used again",
  });
}
