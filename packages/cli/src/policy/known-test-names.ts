/**
 * The names that tests of a policy can refer to, without starting a server: those of the configuration,
 * and the tools that servers listed earlier, whose pins the home keeps.
 */

import { randomBytes } from "node:crypto";
import type { parsePolicyTests } from "@toolcrib/cedar";
import type { GatewayConfig, PolicyConfig } from "@toolcrib/config";
import { createPinStore } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { knownClients } from "./client-identity.ts";

/** Sources of Toolcrib's own and of saved tools. */
const ownServers: readonly string[] = ["toolcrib", "saved"];

/** Returns the names. @param fileRules the policies of the files, as `FILE#ID` */
export async function findKnownTestNames(
  context: CliContext,
  config: GatewayConfig,
  fileRules: readonly string[],
): Promise<Parameters<typeof parsePolicyTests>[1]> {
  const { toolServers, toolspecs, policy } = config;
  const tools = new Map<string, readonly string[]>(
    toolspecs.flatMap(({ id, pair }) =>
      pair === undefined ? [] : [[id, pair.toolspec.tools.map(({ name }) => name)]],
    ),
  );
  const ids = new Set(toolServers.map(({ id }) => id));
  for (const [id, names] of await findListedTools(context)) if (ids.has(id)) tools.set(id, names);
  return {
    clients: knownClients(context, config),
    servers: [...ids, ...toolspecs.map(({ id }) => id), ...ownServers],
    toolsOf: (server) => tools.get(server),
    rules: [...fileRules, ...listRules(policy)],
  };
}

/** Returns the names of the tools that tool servers listed earlier, as far as the home has their pins, by the ids of the servers. */
export async function findListedTools({
  options,
}: Pick<CliContext, "options">): Promise<ReadonlyMap<string, readonly string[]>> {
  await using pins = createPinStore(options.home, { randomBytes });
  const { sources } = await pins.list();
  const tools = sources.map(
    (source) =>
      [source.sourceId, source.pins.filter(({ kind }) => kind === "tool").map(({ name }) => name)] as const,
  );
  return new Map(tools.filter(([, names]) => names.length > 0));
}

/** The paths by which lists decide. */
function listRules({ allow, deny, clients }: PolicyConfig): readonly string[] {
  const rulesAt = (path: string, lists: Pick<PolicyConfig, "allow" | "deny">) =>
    (["allow", "deny"] as const).flatMap((name) => [
      `${path}.${name}`,
      ...(lists[name] ?? []).map((_pattern, at) => `${path}.${name}[${at}]`),
    ]);
  const ofClients = Object.entries(clients).flatMap(([name, lists]) =>
    rulesAt(`policy.clients.${name}`, lists),
  );
  return [...rulesAt("policy", { allow, deny }), ...ofClients, "policy.files", "default", "default set"];
}
