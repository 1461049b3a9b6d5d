/**
 * Names the tool servers whose tools cannot be known without starting them, where patterns name some of these tools: a
 * check that says nothing about such a pattern has not found it right. Pure.
 */

import type { GatewayConfig } from "@toolcrib/config";

/** Returns the ids of servers that listed nothing yet and of which a pattern names single tools. */
export function serversWithUnknownTools(
  config: Pick<GatewayConfig, "toolServers" | "policy" | "guards" | "hooks">,
  listedTools: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const patterns = patternsOf(config);
  return config.toolServers.flatMap(({ id }) =>
    !listedTools.has(id) && patterns.some((pattern) => namesToolOf(id, pattern)) ? [id] : [],
  );
}

/** Whether a pattern names some tools of a server, and not all of it. */
function namesToolOf(id: string, pattern: string): boolean {
  const start = [`${id}:`, `${id}__`].find((one) => pattern.startsWith(one));
  const rest = start === undefined ? "*" : pattern.slice(start.length);
  return rest !== "*" && !/^(?:resources|prompts)\//.test(rest);
}

function patternsOf({
  policy,
  guards,
  hooks,
}: Pick<GatewayConfig, "policy" | "guards" | "hooks">): readonly string[] {
  const lists = [policy, ...Object.values(policy.clients)];
  return [
    ...lists.flatMap(({ allow = [], deny = [] }) => [...allow, ...deny]),
    ...policy.waiveApproval,
    ...[...guards.rules, ...hooks.before, ...hooks.after].flatMap(({ tools = [] }) => tools),
  ];
}
