/**
 * Opens the tools for a command: through the running gateway of this home, with
 * its servers, policy and audit trail. If no gateway is running, or `--config`
 * names a configuration, the command starts the servers itself.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { type LoadedConfig, loadCliConfig, loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { projectFolderOf } from "../config/project-folder.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { counted } from "../output/counted.ts";
import { reasonLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { asTyped } from "../serve/source-table.ts";
import { entriesOf } from "../switches/config-entries.ts";
import { acceptsControl, probeTimeoutMs } from "./control-probe.ts";
import { openRemoteTools } from "./remote-tools.ts";
import { findRunningGateways, type RunningGateway } from "./run-file.ts";
import type { ServerState, ToolAccess } from "./tool-access.ts";

/** Options of `openToolAccess`. */
export interface ToolAccessOptions {
  /** Returns the only configured server that the command needs; the others are not started. May throw. */
  readonly onlyServer?: (ids: readonly string[]) => string | undefined;
}

/**
 * Opens the tools.
 *
 * @throws {CodedError} when the gateway or the configuration cannot be used.
 */
export async function openToolAccess(
  context: CliContext,
  { onlyServer }: ToolAccessOptions = {},
): Promise<ToolAccess> {
  const { options } = context;
  const running = options.configFiles.length === 0 ? await findReachableGateway(options.home) : undefined;
  if (running !== undefined) {
    return openRemoteTools(running, context.signal);
  }
  const loaded = await loadForTools(context);
  const configured = entriesOf(loaded.config).map(({ id }) => id);
  const ids = onlyServer === undefined ? configured : [...configured, ...(await installedIds(context))];
  // The command itself reports failed servers (`noteMissing`); their log needs `--log-level`.
  const only = onlyServer?.(ids);
  // A package can be a chain, which needs any other tool.
  const started = only === undefined || configured.includes(only) ? only : undefined;
  const { openLocalTools } = await import("./local-tools.ts");
  return openLocalTools(context, loaded, createCommandLogger(context, "silent"), started);
}

/** Loads the configuration, which installed packages do not need. @throws as `loadCliConfig` where there are neither */
async function loadForTools(context: CliContext): Promise<LoadedConfig> {
  try {
    return await loadCliConfig(context);
  } catch (error) {
    const isAbsent = isCodedError(error) && error.code === "CLI_CONFIG_NOT_FOUND";
    if (!isAbsent || (await installedIds(context)).length === 0) throw error;
    return { ...(await loadConfigOrDefaults(context)), warnings: [] };
  }
}

/** Returns the ids of the installed packages, which are sources of tools as servers are. */
export async function installedIds(context: CliContext): Promise<readonly string[]> {
  const { readInstalledPackages } = await import("@toolcrib/mcpkg-install");
  const { packages } = await readInstalledPackages({
    home: context.options.home,
    projectFolder: projectFolderOf(context),
  });
  return packages.map(({ toolId }) => toolId);
}

/**
 * Returns the gateway of the home that started last, unless both its socket and its address
 * refuse connections: the system may have given its process id to another process.
 */
export async function findReachableGateway(home: string): Promise<RunningGateway | undefined> {
  const [first] = await findReachableGateways(home);
  return first;
}

/** Returns all gateways of the home that can be reached, the one that started last first. */
export async function findReachableGateways(home: string): Promise<readonly RunningGateway[]> {
  const found = await Promise.all(findRunningGateways(home).map(reachable));
  return found.filter((gateway) => gateway !== undefined);
}

async function reachable(running: RunningGateway): Promise<RunningGateway | undefined> {
  if (running.controlPath !== undefined && (await acceptsControl(running.controlPath))) return running;
  try {
    const response = await fetch(`${running.url}/healthz`, {
      redirect: "error",
      signal: AbortSignal.timeout(probeTimeoutMs),
    });
    await response.body?.cancel();
    return running;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    // A gateway that is busy or closes the connection is running. Using it shows the error.
    return code === "ECONNREFUSED" ? undefined : running;
  }
}

/** Returns the servers whose tools may be missing. */
export function missingOf(servers: readonly ServerState[]): readonly ServerState[] {
  return servers.filter(({ state }) => state !== "ready" && state !== "idle");
}

/**
 * Returns `text` for an empty list that is complete; otherwise that only the servers which are ready were asked, and
 * which are not.
 */
export function emptyText(servers: readonly ServerState[], text: string, found: string): string {
  const missing = missingOf(servers).filter(({ state }) => state !== "disabled");
  if (missing.length === 0) return text;
  const named = missing.slice(0, namedMaxCount).map(({ id, state }) => `${id} (${state})`);
  const more = missing.length - named.length;
  return `${found} of the servers that are ready; not ready: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Servers that an empty list names. */
const namedMaxCount = 5;

/** Reports on standard error the servers that are not ready, and those whose tools wait for approval, so that an incomplete list is recognizable. */
export function noteMissing(context: CliContext, servers: readonly ServerState[]): void {
  const { output } = context;
  for (const { id, kind, state, reason } of missingOf(servers)) {
    // The operator wants it so.
    if (state === "disabled") continue;
    const why = reason === undefined ? "" : `: ${asTyped(reasonLine(reason), context)}`;
    const text = `is ${state === "starting" ? "still starting" : state}${why}`;
    output.note(
      `${output.noteStyle("yellow", "warning")}: the tools of "${id}" are missing: the ${kind} ${text}`,
    );
  }
  for (const { id, waitingTools = 0 } of servers) {
    if (waitingTools === 0) continue;
    output.note(
      `${output.noteStyle("yellow", "warning")}: ${counted(waitingTools, "tool")} of "${id}" ${waitingTools === 1 ? "waits" : "wait"} for approval: ${ownCommand(context)} approve ${id}`,
    );
  }
}
