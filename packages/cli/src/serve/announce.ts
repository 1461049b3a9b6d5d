/** Prints the address of a starting gateway, then each server, then how to use it. */

import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { serversWaitMs, startingIn } from "../access/server-states.ts";
import type { ToolDescription } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { printPauses } from "../guards/pause.ts";
import { withProgress } from "../progress/progress.ts";
import { version } from "../version.ts";
import { findExampleCall } from "./example-call.ts";
import { ownCommand } from "./own-command.ts";
import {
  clientLines,
  type Endpoint,
  nextLines,
  serverColumns,
  serverLines,
  tokenFile,
  wordsOf,
} from "./serve-text.ts";
import { sourcesOf, waitForServers } from "./wait-for-servers.ts";

/** Prints the address of the gateway; with `--json` everything that a program needs to use it. */
export function announce({ output }: CliContext, endpoint: Endpoint, status: GatewayStatus): void {
  const { url, home, token, issuers = [] } = endpoint;
  output.json({
    version,
    pid: process.pid,
    home,
    mcp: `${url}/mcp`,
    sse: `${url}/sse`,
    auth: token !== undefined ? "token" : issuers.length > 0 ? "oauth" : "none",
    issuers: issuers.length > 0 ? issuers : undefined,
    tokenFile: token === undefined ? undefined : tokenFile(endpoint),
    servers: sourcesOf(status).map(({ id, transport }) => ({ id, transport, mcp: `${url}/mcp/s/${id}` })),
  });
  output.print(`${output.style("bold", `Toolcrib ${version}`)} serves ${output.style("cyan", `${url}/mcp`)}`);
}

/** Prints each server when it is ready or has failed, then how to connect and what to try. */
export async function announceServers(
  context: CliContext,
  gateway: Gateway,
  endpoint: Endpoint,
): Promise<void> {
  const { output } = context;
  const servers = sourcesOf(gateway.status());
  const columns = serverColumns(servers);
  const signal = context.signal;
  output.print("");
  if (servers.length === 0) output.print("  No tool servers and no toolspecs are configured.");
  const starting = await withProgress(
    context,
    () => `still starting: ${startingIn(gateway)}`,
    (progress) =>
      waitForServers(gateway, { waitMs: serversWaitMs, signal }, (server) => {
        progress.clear();
        output.print(...serverLines(server, columns, output));
      }),
  );
  if (signal.aborted) return;
  output.print(...starting.flatMap((server) => serverLines(server, columns, output)));
  // A gateway that prints nothing does not load it.
  const { clientPrograms } = await import("@toolcrib/clients");
  const instructions = clientLines(endpoint, ownCommand(context), clientPrograms, output);
  output.print("", ...instructions, "", ...nextCommands(context, gateway), "");
  printPauses(output, gateway.status().pauses);
  output.print(output.style("dim", "Press Ctrl-C to stop."));
  if (starting.length === 0) return;
  const late = new Set(starting.map(({ id }) => id));
  await waitForServers(gateway, { waitMs: Number.POSITIVE_INFINITY, signal }, (server) => {
    if (late.has(server.id)) output.print(...serverLines(server, columns, output));
  });
}

function nextCommands(context: CliContext, gateway: Gateway): string[] {
  // The commands that are printed use the identity of the command line.
  const identity: Identity = localIdentity("cli", "cli");
  const tools = gateway.listTools(identity).flatMap((summary): ToolDescription[] => {
    const tool = summary.isOwn ? undefined : gateway.describe(identity, summary.id);
    return tool === undefined ? [] : [{ ...summary, ...(tool.definition as object) } as ToolDescription];
  });
  const example = findExampleCall(tools);
  const named = example?.tool ?? tools[0];
  return nextLines(
    {
      command: ownCommand(context),
      hasWaiting: sourcesOf(gateway.status()).some(({ waitingTools = 0 }) => waitingTools > 0),
      searchWords: named === undefined ? undefined : wordsOf(named.id.slice(named.namespace.length + 1)),
      example,
    },
    context.output,
  );
}
