/**
 * `toolcrib policy simulate`: what the policy as its files are now would have decided
 * about recorded calls. Arguments are not recorded, so a call about which a policy
 * reads arguments is undecidable.
 */

import { type OfflinePolicy, openOfflinePolicy } from "@toolcrib/gateway";
import type { PolicyTarget } from "@toolcrib/policy";
import { type AuditRecord, openAuditReader } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import type { AuditTime } from "../audit/audit-filter.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { openPolicySituation } from "./open-targets.ts";

/** Flags of the command. */
export interface SimulateFlags {
  /** Start of the time range. @default a day ago */
  readonly since?: AuditTime;
}

/** What the policy would have decided about a recorded call. */
type Verdict = "same" | "denied now" | "allowed now" | "undecidable" | "unknown tool";

/** Calls of one client and one tool with the same verdict. */
interface Group {
  readonly client: string;
  readonly tool: string;
  readonly verdict: Verdict;
  /** The rule that decides now. */
  readonly rule: string | undefined;
  count: number;
}

/** Records in one page of the trail, and most records that are read. */
const pageSize = 1000;
const maxRecords = 1_000_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Runs the command. */
export async function simulatePolicy(context: CliContext, flags: SimulateFlags): Promise<ExitCode> {
  const { config, targets } = await openPolicySituation(context);
  using policy = await openOfflinePolicy(config.policy);
  const byId = new Map(targets.map((target) => [target.id, target]));
  const groups = new Map<string, Group>();
  let count = 0;
  for await (const record of recordsOf(context, flags.since ?? { agoMs: dayMs })) {
    const { client, tool, verdict, rule } = judge(policy, record, byId);
    const key = JSON.stringify([client, tool, verdict, rule]);
    const group = groups.get(key) ?? { client, tool, verdict, rule, count: 0 };
    group.count += 1;
    groups.set(key, group);
    count += 1;
  }
  report(context, count, [...groups.values()]);
  return exitCodes.done;
}

async function* recordsOf(
  { options, now }: CliContext,
  time: AuditTime,
): AsyncGenerator<AuditRecord<"call.intent" | "call.denied">> {
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
    yield* page as readonly AuditRecord<"call.intent" | "call.denied">[];
    before = page.at(-1);
    read += page.length;
    if (before === undefined || page.length < pageSize) return;
  }
}

function judge(
  policy: OfflinePolicy,
  { type, data, time }: AuditRecord<"call.intent" | "call.denied">,
  byId: ReadonlyMap<string, PolicyTarget>,
): Omit<Group, "count"> {
  const { client, tool, depth } = data;
  const { issuer = "", subject = client.name, name } = client;
  const shown = { client: name, tool };
  const target = byId.get(tool);
  if (target === undefined) return { ...shown, verdict: "unknown tool", rule: undefined };
  const identity: Identity = { issuer, subject, name, roles: [] };
  const now = Date.parse(time);
  const call = { args: {}, depth, parentTool: "", era: "modern" as const, now, labels: [], seenLabels: [] };
  const request = { identity, action: "call" as const, target, call };
  if (policy.dependsOnArguments(request)) return { ...shown, verdict: "undecidable", rule: undefined };
  // A call that was denied for another reason, such as its depth, was allowed by the policy.
  const wasDenied = type === "call.denied" && (data as { readonly code: string }).code === "POLICY_DENIED";
  const { kind, rule } = policy.decide(request);
  const isDenied = kind === "deny";
  return {
    ...shown,
    rule,
    verdict: isDenied === wasDenied ? "same" : isDenied ? "denied now" : "allowed now",
  };
}

function report({ output }: CliContext, count: number, groups: readonly Group[]): void {
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
  output.json({ calls: count, ...totals, changes });
  if (changes.length > 0) {
    output.table(
      [
        { title: "CALLS" },
        { title: "CLIENT" },
        { title: "TOOL", canShrink: true },
        { title: "NOW" },
        { title: "RULE", canShrink: true },
      ],
      changes.map(({ count: calls, client, tool, verdict, rule = "" }) => [
        String(calls),
        safeLine(client),
        safeLine(tool),
        verdict,
        safeLine(rule),
      ]),
    );
    output.print("");
  }
  output.print(
    `${counted(count, "call")}: ${totals.same} decided the same, ${totals.deniedNow} denied now, ${totals.allowedNow} allowed now, ${totals.undecidable} undecidable (a policy reads arguments, which are not recorded), ${totals.unknownTool} of unknown tools`,
  );
}
