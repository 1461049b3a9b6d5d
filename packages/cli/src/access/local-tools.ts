/**
 * Tools of a gateway that runs for one command: it starts the configured
 * servers, and stops them at the end. Calls have the identity of the command
 * line (`cli`) and are recorded on the audit trail like all others.
 *
 * The command waits for servers for a limited time. It reports the servers that
 * are not ready by then; their tools are missing.
 */

import { CodedError, type Logger } from "@toolcrib/diagnostics";
import { type Gateway, startGateway, type ToolSummary } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import { packageConfigOf } from "@toolcrib/mcpkg-runtime";
import { type Identity, localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import type { LoadedConfig } from "../config/load-cli-config.ts";
import { withProgress } from "../progress/progress.ts";
import { gatewayDepsOf } from "./gateway-deps.ts";
import { startingIn, statesOf, untilContacted } from "./server-states.ts";
import { isUnavailableTool, type ToolAccess, type ToolDescription } from "./tool-access.ts";

const identity: Identity = localIdentity("cli", "cli");

/**
 * Starts the servers of `loaded` and waits until each is ready or has failed, at
 * most `serversWaitMs`.
 *
 * @param onlyServer the only server to start; tools of other servers are not found.
 */
export async function openLocalTools(
  context: CliContext,
  loaded: LoadedConfig,
  logger: Logger,
  onlyServer: string | undefined,
): Promise<ToolAccess> {
  return toToolAccess(await startLocalGateway(context, loaded, logger, onlyServer));
}

/**
 * Starts a gateway for one command, as `openLocalTools`. Its caller disposes it.
 *
 * @param onlyServer the only server or package to start; an id that none has starts none.
 */
export async function startLocalGateway(
  context: CliContext,
  loaded: LoadedConfig,
  logger: Logger,
  onlyServer: string | undefined,
): Promise<Gateway> {
  const { config, files } = loaded;
  const isWanted = ({ id }: { readonly id: string }) => onlyServer === undefined || id === onlyServer;
  const toolServers = config.toolServers.filter(isWanted);
  const toolspecs = config.toolspecs.filter(isWanted);
  const gateway = await startGateway(
    { ...config, toolServers, toolspecs, packages: packagesOf(config, onlyServer) },
    gatewayDepsOf(context, { logger, configFiles: files }),
  );
  try {
    await withProgress(
      context,
      () => `Starting ${startingIn(gateway)}`,
      () => untilContacted(gateway, context.signal),
    );
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
  return gateway;
}

/** Returns the settings of packages, by which only `onlyServer` is offered where a command needs one source only. */
export function packagesOf(
  { packages, toolServers, toolspecs }: LoadedConfig["config"],
  onlyServer: string | undefined,
): LoadedConfig["config"]["packages"] {
  if (onlyServer === undefined) return packages;
  const { others } = packages;
  const own = packageConfigOf({ packages }, onlyServer);
  const isPackage = ![...toolServers, ...toolspecs].some(({ id }) => id === onlyServer);
  return {
    ...packages,
    byId: isPackage ? { [onlyServer]: own } : {},
    others: { ...others, isEnabled: false },
  };
}

function toToolAccess(gateway: Gateway): ToolAccess {
  const list = (): readonly ToolSummary[] => gateway.listTools(identity).filter(({ isOwn }) => !isOwn);
  return {
    gatewayUrl: undefined,
    list: async () => list(),
    search: async (query, limit) => gateway.search(identity, query, limit),
    explainSearch: async (query, limit) => gateway.search(identity, query, limit, true),
    async describe(name) {
      const tool = gateway.describe(identity, name);
      const summary = gateway.listTools(identity).find(({ id }) => id === tool?.id);
      if (tool === undefined || summary === undefined) return undefined;
      const { name: _name, ...definition } = tool.definition;
      return { ...summary, ...definition } as ToolDescription;
    },
    async explain(name) {
      const error = gateway.explain(identity, name);
      return isUnavailableTool(error) ? error : undefined;
    },
    async call(name, args: JsonObject, { signal, onProgress }) {
      const outcome = await gateway.call(identity, name, args, { signal, onProgress });
      if (outcome.kind === "result") return outcome.result;
      if (outcome.kind === "failed") throw outcome.error;
      const { code, reason, hint, callId } = outcome;
      throw new CodedError(code, reason, { hint, data: { callId } });
    },
    servers: async () => statesOf(gateway.sources()),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}
