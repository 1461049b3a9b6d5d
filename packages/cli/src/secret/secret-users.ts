/** Finds what uses a stored secret, and says what happens after it was stored. Only reads. */

import type { GatewayConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";

/** Names of the secrets of the store that a part of a configuration refers to. */
export function storedNames(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(storedNames);
  if (typeof value !== "object" || value === null) return [];
  const { kind, name } = value as { kind?: unknown; name?: unknown };
  if ((kind === "store" || kind === "named") && typeof name === "string") return [name];
  // Files and texts of the configuration contain no references.
  return Object.entries(value).flatMap(([key, one]) =>
    key === "source" || key === "pair" ? [] : storedNames(one),
  );
}

/** Returns the servers and toolspecs that use a secret, each with its kind. */
function usersIn({ toolServers, toolspecs }: GatewayConfig, name: string): readonly string[] {
  const idsOf = (entries: readonly { readonly id: string }[]) =>
    entries.filter((one) => storedNames(one).includes(name)).map(({ id }) => safeLine(id));
  return [
    ...idsOf(toolServers).map((id) => `the server ${id}`),
    ...idsOf(toolspecs).map((id) => `the toolspec ${id}`),
  ];
}

/**
 * Returns what uses a secret that was stored, and when: in the configuration of the running gateway of the home, or
 * without one in that of this folder. Nothing where none uses it, or the configuration cannot be read.
 *
 * @param isNew whether there was none before, so that its users waited for it
 */
export async function secretUseLines(
  context: CliContext,
  name: string,
  { isNew }: { readonly isNew: boolean },
): Promise<readonly string[]> {
  const [running] = findRunningGateways(context.options.home);
  const isServed = running !== undefined && running.configFiles.length > 0;
  const { options, directory } = context;
  const loaded = await loadOrNone(
    isServed ? { ...context, options: { ...options, configFiles: running.configFiles } } : context,
  );
  const users = loaded === undefined ? [] : usersIn(loaded.config, name);
  if (users.length === 0) return [];
  const files = (loaded?.files ?? []).map((file) => safeLine(shortPath(file, directory))).join(", ");
  const isOne = users.length === 1;
  const verb = isNew ? "waited for" : isOne ? "uses" : "use";
  const all = users.join(", ");
  const line = `${all.charAt(0).toUpperCase()}${all.slice(1)} in ${files} ${verb} it.`;
  if (!isServed) return [line, `Start the gateway: ${ownCommand(context)} serve`];
  return [
    `${line} The running gateway reads it when ${isOne ? "it connects or starts" : "they connect or start"}: what failed for lack of it is tried again within a minute. See it: ${ownCommand(context)} status`,
  ];
}

async function loadOrNone(context: CliContext): Promise<LoadedConfig | undefined> {
  try {
    return await loadCliConfig(context);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return undefined;
  }
}
