/**
 * `toolcrib policy simulate`: what the policy as its files are now would have decided
 * about recorded calls. A record leaves out credentials and long texts of arguments. A call is
 * undecidable only where the decision depends on something that its record leaves out.
 */

import { type OfflinePolicy, openOfflinePolicy } from "@toolcrib/cedar";
import type { PolicyTarget } from "@toolcrib/policy";
import { type AuditRecord, openAuditReader } from "@toolcrib/store";
import type { AuditTime } from "../audit/audit-filter.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { openPolicySituation } from "./open-targets.ts";
import { type DecidedRecord, recordedRequest } from "./recorded-request.ts";

/** Flags of the command. */
export interface SimulateFlags {
  /** Start of the time range. @default a day ago */
  readonly since?: AuditTime;
}

/** The decision that the policy would have made about a recorded call. */
type Verdict = "same" | "denied now" | "allowed now" | "undecidable" | "unknown tool";

/** Calls of one client and one tool with the same verdict. */
interface Group {
  readonly client: string;
  readonly tool: string;
  readonly verdict: Verdict;
  /** The rule that decides now, or the first on which the decision depends. */
  readonly rule: string | undefined;
  /** The facts that the rule reads and the records leave out; empty where the call can be decided. */
  readonly missing: readonly string[];
  count: number;
}

/** Records in one page of the trail, and most records that are read. */
const pageSize = 1000;
const maxRecords = 1_000_000;
/** Most calls whose tools are remembered. */
const maxParents = 10_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Runs the command. */
export async function simulatePolicy(context: CliContext, flags: SimulateFlags): Promise<ExitCode> {
  const situation = await openPolicySituation(context, { onDisk: true });
  const { targets } = situation;
  using policy = await openOfflinePolicy(situation.policy);
  const byId = new Map(targets.map((target) => [target.id, target]));
  const groups = new Map<string, Group>();
  const parents = new ParentTools(context);
  let count = 0;
  let engineFailed = 0;
  for await (const record of recordsOf(context, flags.since ?? { agoMs: dayMs })) {
    // No policy decided about it: the engine had failed.
    if (codeOf(record) === "POLICY_UNAVAILABLE") {
      engineFailed += 1;
      continue;
    }
    const { client, tool, verdict, rule, missing } = await judge(policy, record, byId, parents);
    const key = JSON.stringify([client, tool, verdict, rule, missing]);
    const group = groups.get(key) ?? { client, tool, verdict, rule, missing, count: 0 };
    group.count += 1;
    groups.set(key, group);
    count += 1;
  }
  report(context, count, engineFailed, [...groups.values()]);
  return exitCodes.done;
}

/** Finds the tools that made inner calls. */
class ParentTools {
  readonly #home: string;
  /** By the id of the call. */
  readonly #known = new Map<string, string | undefined>();

  constructor({ options }: CliContext) {
    this.#home = options.home;
  }

  /** Returns the tool of a call; `undefined` where no record has it. */
  async of(callId: string): Promise<string | undefined> {
    if (this.#known.has(callId)) return this.#known.get(callId);
    await using reader = await openAuditReader({ home: this.#home });
    const tool = (await reader.show(callId))?.intent?.data.tool;
    if (this.#known.size >= maxParents) this.#known.clear();
    this.#known.set(callId, tool);
    return tool;
  }
}

async function* recordsOf({ options, now }: CliContext, time: AuditTime): AsyncGenerator<DecidedRecord> {
  await using reader = await openAuditReader({ home: options.home });
  const since = "at" in time ? time.at : now() - time.agoMs;
  let before: AuditRecord | undefined;
  for (let read = 0; read < maxRecords; ) {
    const page = await reader.list({
      type: ["call.intent", "call.denied"],
      since,
      limit: pageSize,
      before,
    });
    yield* page as readonly DecidedRecord[];
    before = page.at(-1);
    read += page.length;
    if (before === undefined || page.length < pageSize) return;
  }
}

async function judge(
  policy: OfflinePolicy,
  record: DecidedRecord,
  byId: ReadonlyMap<string, PolicyTarget>,
  parents: ParentTools,
): Promise<Omit<Group, "count">> {
  const { client, tool, parentId } = record.data;
  const shown = { client: client.name, tool, missing: [] };
  const target = byId.get(tool);
  if (target === undefined) return { ...shown, verdict: "unknown tool", rule: undefined };
  const decide = (parentTool: string | undefined) => {
    const { request, unknown } = recordedRequest(record, target, parentTool);
    return policy.decidePartially(request, unknown);
  };
  let partial = decide(undefined);
  if (partial.kind === "open" && parentId !== undefined && readsParent(partial.policies)) {
    partial = decide(await parents.of(parentId));
  }
  if (partial.kind === "open") {
    const [first] = partial.policies;
    return { ...shown, verdict: "undecidable", rule: first?.rule, missing: first?.reads ?? [] };
  }
  // A call that was denied for another reason, such as its depth, was allowed by the policy.
  const wasDenied = codeOf(record) === "POLICY_DENIED";
  const { kind, rule } = partial.decision;
  const isDenied = kind === "deny";
  const verdict = isDenied === wasDenied ? "same" : isDenied ? "denied now" : "allowed now";
  return { ...shown, rule, verdict };
}

/** Returns why a call was denied; `undefined` for one that was made. */
function codeOf({ type, data }: DecidedRecord): string | undefined {
  return type === "call.denied" ? (data as { readonly code: string }).code : undefined;
}

function readsParent(policies: readonly { readonly reads: readonly string[] }[]): boolean {
  return policies.some(({ reads }) => reads.includes("context.parent"));
}

/** @param engineFailed calls that are not among `count`: no policy decided about them */
function report({ output }: CliContext, count: number, engineFailed: number, groups: readonly Group[]): void {
  const total = (verdict: Verdict) =>
    groups.filter((group) => group.verdict === verdict).reduce((sum, group) => sum + group.count, 0);
  const totals = {
    same: total("same"),
    deniedNow: total("denied now"),
    allowedNow: total("allowed now"),
    undecidable: total("undecidable"),
    unknownTool: total("unknown tool"),
  };
  const changes = groups.filter(({ verdict }) => verdict !== "same").sort((a, b) => b.count - a.count);
  output.json({ calls: count, ...totals, engineFailed, changes });
  if (changes.length > 0) {
    output.table(
      [
        { title: "CALLS" },
        { title: "CLIENT" },
        { title: "TOOL", canShrink: true },
        { title: "NOW" },
        { title: "RULE", canShrink: true },
        { title: "NOT RECORDED", canShrink: true },
      ],
      changes.map(({ count: calls, client, tool, verdict, rule = "", missing }) => [
        String(calls),
        safeLine(client),
        safeLine(tool),
        verdict,
        safeLine(rule),
        safeLine(missing.join(", ")),
      ]),
    );
    output.print("");
  }
  output.print(
    `${counted(count, "call")}: ${totals.same} decided the same, ${totals.deniedNow} denied now, ${totals.allowedNow} allowed now, ${totals.undecidable} undecidable (a policy reads what their records leave out), ${totals.unknownTool} of unknown tools`,
  );
  if (engineFailed > 0) {
    output.print(
      `Not compared: ${counted(engineFailed, "call")} denied because the policy engine had failed (POLICY_UNAVAILABLE)`,
    );
  }
}
