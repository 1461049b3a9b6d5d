/** Explains in lines what the policy decides about a request, and the smallest change that would allow it. */

import type { OfflinePolicy } from "@toolcrib/cedar";
import { clientIdOf } from "@toolcrib/cedar";
import type { Decision, PolicyRequest } from "@toolcrib/policy";
import { safeLine } from "../output/output.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/** A policy of a file, and how its parts relate to a request. */
type ExplainedPolicy = Awaited<ReturnType<OfflinePolicy["explain"]>>[number];

/** A decision of the policy, and its reason. */
export interface Explanation {
  readonly decision: Decision;
  /** The policies that decided, and where none permits, those that are closest to it. */
  readonly policies: readonly ExplainedPolicy[];
  /** The forbids about this client, action and target that do not apply, because of a condition that does not hold. */
  readonly unmetForbids: readonly ExplainedPolicy[];
  /** The smallest change that would allow it; undefined for what is allowed. */
  readonly change: string | undefined;
}

/** Most policies that are shown where none permits, and most forbids that do not apply. */
const nearestCount = 3;

/** Explains `request`. @param isExpected whether a forbid was expected to decide: it is explained in any case */
export async function explainRequest(
  policy: OfflinePolicy,
  request: PolicyRequest,
  isExpected: (rule: string) => boolean = () => false,
): Promise<Explanation> {
  const decision = policy.decide(request);
  const explained = await policy.explain(request);
  const unmet = unmetForbidsOf(explained);
  const unmetForbids = [
    ...unmet.filter(({ rule }) => isExpected(rule)),
    ...(decision.kind === "deny" ? [] : unmet.filter(({ rule }) => !isExpected(rule))),
  ].slice(0, nearestCount);
  return { ...explainDecision(decision, explained, request), unmetForbids };
}

/** Returns the forbids of which the head matches and a condition does not hold: those with the narrowest heads first. */
function unmetForbidsOf(explained: readonly ExplainedPolicy[]): readonly ExplainedPolicy[] {
  const heads = ({ parts }: ExplainedPolicy) => parts.filter(({ kind }) => kind === "head");
  return explained
    .filter((policy) => policy.effect === "forbid" && !policy.applies)
    .filter((policy) => heads(policy).every(({ holds }) => holds))
    .sort((a, b) => heads(b).length - heads(a).length);
}

function explainDecision(
  decision: Decision,
  explained: readonly ExplainedPolicy[],
  request: PolicyRequest,
): Omit<Explanation, "unmetForbids"> {
  if (decision.kind === "deny" && decision.rule.startsWith(switchRule))
    return { decision, policies: [], change: enableCommand(decision.rule.slice(switchRule.length)) };
  const isOfLists = decision.kind === "deny" && /^(?:policy\.(?!files)|profiles\.)/.test(decision.rule);
  if (isOfLists) return { decision, policies: [], change: listChange(decision.rule, request) };
  const forbidding = explained.filter(({ effect, applies }) => effect === "forbid" && applies);
  const permits = explained.filter(({ effect }) => effect === "permit");
  if (decision.kind === "allow") {
    return { decision, policies: permits.filter(({ applies }) => applies), change: undefined };
  }
  if (forbidding.length > 0) return { decision, policies: forbidding, change: forbidChange(forbidding) };
  const deciding = explained.find(({ rule }) => rule === decision.rule);
  if (deciding !== undefined) return { decision, policies: [deciding], change: undefined };
  const nearest = permits.filter(({ applies }) => !applies).slice(0, nearestCount);
  return { decision, policies: nearest, change: permitChange(nearest, request) };
}

/** Before the name or pattern in the rule of a switch. */
const switchRule = "switch.tool ";

function enableCommand(pattern: string): string {
  return `toolcrib enable tool ${shellQuote(pattern)}`;
}

function listChange(rule: string, { target }: PolicyRequest): string {
  const list = rule.replace(/\[\d+\]$/, "");
  const [server] = target.id.split(":", 1);
  if (/^profiles\..*\.servers$/.test(list)) return `add "${server}" to ${list} in toolcrib.yaml`;
  return list.endsWith(".allow") || /^profiles\..*\.tools$/.test(list)
    ? `add "${target.id}" to ${list} in toolcrib.yaml`
    : `remove the pattern at ${rule} in toolcrib.yaml, or narrow it`;
}

function forbidChange(forbidding: readonly ExplainedPolicy[]): string {
  const rules = forbidding.map(({ rule }) => rule).join(" and ");
  return `narrow ${rules}, or change the request so that one of the conditions no longer holds`;
}

function permitChange(
  nearest: readonly ExplainedPolicy[],
  { identity, action, target }: PolicyRequest,
): string {
  const type = target.kind === "tool" ? "Tool" : target.kind === "resource" ? "Resource" : "Prompt";
  const client = JSON.stringify(clientIdOf(identity));
  const added = `permit(principal == Client::${client}, action == Action::"${action}", resource == ${type}::${JSON.stringify(target.id)});`;
  const [first] = nearest.map(missingOf);
  // The policies that lack as little as the first.
  const closest = nearest.filter((policy) => missingOf(policy).length === first?.length);
  const ways = closest.map((policy) => `${policy.rule} would permit it if ${missingOf(policy).join(" && ")}`);
  return ways.length === 0 ? `add a policy: ${added}` : [...ways, `or add a policy: ${added}`].join("; ");
}

function missingOf({ parts }: ExplainedPolicy): readonly string[] {
  return parts.filter(({ holds }) => !holds).map(({ text }) => text);
}

/** Returns the lines of an explanation for people. */
export function explanationLines({
  decision,
  policies,
  unmetForbids,
  change,
}: Explanation): readonly string[] {
  const lines = [safeLine(`${decision.kind === "allow" ? "allowed" : "denied"} by ${decision.rule}`)];
  if (decision.kind === "deny") lines.push(safeLine(decision.reason));
  for (const { rule, effect, parts } of policies) {
    lines.push("", safeLine(`${effect} ${rule}`), ...parts.map(partLine));
  }
  for (const { rule, parts } of unmetForbids) {
    const unmet = parts.filter(({ holds }) => !holds);
    lines.push("", safeLine(`forbid ${rule}, which does not apply`), ...unmet.map(partLine));
  }
  if (change !== undefined) lines.push("", safeLine(`To allow it: ${change}`));
  return lines;
}

function partLine({ text, holds, values }: ExplainedPolicy["parts"][number]): string {
  const found = values.length === 0 ? "" : `   (${values.join("; ")})`;
  return `  ${holds ? "holds" : "does not hold"}: ${safeLine(`${text}${found}`)}`;
}
