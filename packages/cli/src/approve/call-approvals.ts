/**
 * Names the tools whose calls still need an approval after their definitions were approved. The approval of a definition offers a tool;
 * each call of a tool of an unverified server that is not known to be read-only needs another one.
 */

import type { Gateway } from "@toolcrib/gateway";
import { ToolPatterns } from "@toolcrib/policy";
import type { CliContext } from "../cli-context.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";

/** Facts that decide about approvals of calls. A gateway of an earlier version reports none. */
export type CallApprovalFacts = Partial<Pick<ReturnType<Gateway["policySituation"]>, "targets" | "policy">>;

/** Returns those tools of `names` of a server each of whose calls by a client needs an approval. */
export function toolsWithCallApproval(
  server: string,
  names: readonly string[],
  { targets = [], policy }: CallApprovalFacts,
): readonly string[] {
  const waived = new ToolPatterns(policy?.waiveApproval ?? []);
  return targets
    .filter(
      ({ kind, server: { id, trustState } }) =>
        kind === "tool" && id === server && trustState === "unverified",
    )
    .filter(({ name, isReadOnly }) => names.includes(name) && !isReadOnly)
    .filter(({ id, wireName }) => waived.find(id, wireName) === undefined)
    .map(({ name }) => name);
}

/** Returns the number of tools of a gateway each of whose calls by a client needs an approval. */
export function countCallApprovals(facts: CallApprovalFacts): number {
  const { targets = [] } = facts;
  const names = Map.groupBy(targets, ({ server }) => server.id);
  return [...names].reduce(
    (sum, [server, own]) =>
      sum +
      toolsWithCallApproval(
        server,
        own.map(({ name }) => name),
        facts,
      ).length,
    0,
  );
}

/** Returns the lines that announce calls that will wait, for a guide; none where no call does. */
export function callApprovalLines(facts: CallApprovalFacts, command: string): readonly string[] {
  const count = countCallApprovals(facts);
  if (count === 0) return [];
  return [`Each call of ${counted(count, "tool")} by a client waits for your approval: ${command} approve`];
}

/** Prints that calls of `tools`, of those that were approved, still need an approval each. */
export function printCallApprovals(
  context: CliContext,
  server: string,
  tools: readonly string[],
  approvedCount: number,
): void {
  if (tools.length === 0) return;
  const all = approvedCount === 1 ? "it" : "them";
  const which = tools.length === approvedCount ? all : `${tools.length} of them`;
  context.output.prose(
    `Each call of ${which} by a client still needs an approval of its own (${ownCommand(context)} approve lists those that wait), unless policy.waive_approval names the tool, or ${safeLine(server)} only reads (mutability_class: read_only). trust_state: verified ends them, too, and gives its process the network unless the entry has containment: { network_egress: deny }`,
  );
}
