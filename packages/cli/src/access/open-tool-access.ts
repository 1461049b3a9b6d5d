/**
 * Which way a command goes to the tools: through the gateway that runs for this
 * home, so that its servers, policy and audit are used; without one, or when
 * `--config` names a configuration, through servers of its own.
 */

import type { CliContext } from "../cli-context.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { reasonLine } from "../output/output.ts";
import { findGatewayToken } from "./gateway-token.ts";
import { openLocalTools, serversWaitMs } from "./local-tools.ts";
import { openRemoteTools } from "./remote-tools.ts";
import { findRunningGateway, type RunningGateway } from "./run-file.ts";
import type { ServerState, ToolAccess } from "./tool-access.ts";

/** What a command needs of the servers. */
export interface ToolAccessOptions {
  /** The server whose tools are enough, among those configured; the others are not started then. May throw. */
  readonly onlyServer?: (ids: readonly string[]) => string | undefined;
}

/**
 * Open the tools.
 *
 * @throws {CodedError} when the gateway or the configuration cannot be used.
 */
export async function openToolAccess(
  context: CliContext,
  { onlyServer }: ToolAccessOptions = {},
): Promise<ToolAccess> {
  const { options } = context;
  const running = options.configFiles.length === 0 ? await findAnsweringGateway(options.home) : undefined;
  if (running !== undefined) {
    const token = running.auth === "none" ? undefined : findGatewayToken(context);
    return openRemoteTools({ url: running.url, token }, context.signal);
  }
  const loaded = await loadCliConfig(context);
  const { toolServers, toolspecs } = loaded.config;
  const ids = [...toolServers, ...toolspecs].map(({ id }) => id);
  // Failing servers are named by the command itself (`noteMissing`); their log is for who asks for it.
  return openLocalTools(context, loaded, createCommandLogger(context, "silent"), onlyServer?.(ids));
}

/** Milliseconds in which a port that is open accepts. */
const probeTimeoutMs = 2000;

/**
 * The gateway of the run file, unless nothing listens at its address any more:
 * its process number may have been given to another process.
 */
export async function findAnsweringGateway(home: string): Promise<RunningGateway | undefined> {
  const running = findRunningGateway(home);
  if (running === undefined) return undefined;
  try {
    const response = await fetch(`${running.url}/healthz`, {
      redirect: "error",
      signal: AbortSignal.timeout(probeTimeoutMs),
    });
    await response.body?.cancel();
    return running;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    // One that is busy or breaks off is there; what is wrong with it is found out by using it.
    return code === "ECONNREFUSED" ? undefined : running;
  }
}

/** The servers of `servers` that are not ready. */
export function missingOf(servers: readonly ServerState[]): readonly ServerState[] {
  return servers.filter(({ state }) => state !== "ready");
}

/** Say on standard error which servers are not there, so that a short list is not taken for the whole. */
export function noteMissing({ output }: CliContext, servers: readonly ServerState[]): void {
  for (const { id, kind, state, reason } of missingOf(servers)) {
    const text =
      state === "starting"
        ? `still starts after ${serversWaitMs / 1000} s`
        : `is ${state}${reason === undefined ? "" : `: ${reasonLine(reason)}`}`;
    output.note(
      `${output.noteStyle("yellow", "warning")}: the tools of "${id}" are missing: the ${kind} ${text}`,
    );
  }
}
