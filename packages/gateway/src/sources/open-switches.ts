/** The switches of the home for the operator of a running gateway, which knows what can be switched. Starts nothing. */

import { Switches } from "@toolcrib/admission";
import { findUnmatchedRules } from "@toolcrib/policy";
import { SwitchStore } from "@toolcrib/store";
import { ownNamespace, savedNamespace } from "@toolcrib/tool";
import type { SourceContext } from "./open-sources.ts";

/** Opens the switches. @param config the configuration in force */
export function openSwitches(context: SourceContext, config: () => SourceContext["config"]): Switches {
  const { core, home, record, logger, now, randomBytes } = context;
  return new Switches({
    store: new SwitchStore(home, { randomBytes }),
    audit: { record },
    logger,
    now,
    switchable() {
      const { toolServers, toolspecs, disabled } = config();
      const off = [...disabled.toolServers, ...disabled.toolspecs, ...disabled.packages];
      const entries = [...toolServers, ...toolspecs, ...off];
      return {
        serverIds: [...new Set([...core.roster.configuredIds, ...entries.map(({ id }) => id)])],
        offInFiles: entries.flatMap(({ id, isOff }) => (isOff === true ? [id] : [])),
        toolId: (name) =>
          [...core.index.tools, ...core.index.quarantined].find(({ wireName }) => wireName === name)?.id,
        unmatchedTool: (name) => unmatchedTool(name, core),
      };
    },
  });
}

/** Returns why `name` matches no tool; undefined also for tools of servers whose lists are not known. */
function unmatchedTool(name: string, { index, roster }: SourceContext["core"]): string | undefined {
  const tools = [...index.tools, ...index.quarantined];
  const byNamespace = Map.groupBy(tools, ({ id }) => id.slice(0, id.indexOf(":")));
  const unlisted = roster.entries
    .filter(({ source }) => source.health().state !== "ready")
    .map(({ id }) => id);
  const namespaces = [...byNamespace.keys(), ...roster.configuredIds, ownNamespace, savedNamespace];
  const namesIn = (namespace: string) =>
    unlisted.includes(namespace) && !byNamespace.has(namespace)
      ? undefined
      : (byNamespace.get(namespace) ?? []);
  const [finding] = findUnmatchedRules([name], { namespaces, namesIn });
  if (finding === undefined) return undefined;
  const renamed = index.tools.find(({ listedName }) => listedName === name);
  const hint = renamed === undefined ? finding.hint : `clients see "${renamed.wireName}" under this name`;
  return `no tool matches "${name.slice(0, 256)}"${hint === undefined ? "" : `; ${hint}`}`;
}
