/** Prints the address of a starting gateway, then each server, then how to use it. */

import { setTimeout as delay } from "node:timers/promises";
import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { serversWaitMs } from "../access/server-states.ts";
import type { ToolDescription } from "../access/tool-access.ts";
import { callApprovalLines } from "../approve/call-approvals.ts";
import type { CliContext } from "../cli-context.ts";
import { printPauses } from "../guards/pause.ts";
import { version } from "../version.ts";
import { findExampleCall } from "./example-call.ts";
import { type ListedSource, listedSources, pollSources } from "./listed-sources.ts";
import { ownCommand } from "./own-command.ts";
import { clientLines, type Endpoint, nextLines, noSourcesText, tokenFile, wordsOf } from "./serve-text.ts";
import type { StartBoard } from "./start-board.ts";

/** Interval between the questions whether a server that had failed is ready, in milliseconds. */
const latePollMs = 1000;

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
    servers: listedSources(status).map(({ id, transport }) => ({ id, transport, mcp: `${url}/mcp/s/${id}` })),
  });
  output.print(`${output.style("bold", `Toolcrib ${version}`)} serves ${output.style("cyan", `${url}/mcp`)}`);
}

/** Prints each server when it is ready or has failed, how many are ready, and how to connect and what to try. */
export async function announceServers(
  context: CliContext,
  gateway: Gateway,
  endpoint: Endpoint,
  board: StartBoard,
): Promise<void> {
  const { output, signal } = context;
  output.print("");
  if (listedSources(gateway.sources()).length === 0)
    output.prose(
      "  No tool servers and no toolspecs are configured.",
      `  Next: ${noSourcesText(ownCommand(context))}`,
    );
  let isFinished = false;
  const show = (servers: readonly ListedSource[]): boolean => {
    board.show(servers);
    isFinished = servers.every(({ health }) => health.state !== "starting");
    if (isFinished) board.finish(servers);
    return isFinished;
  };
  await pollSources(gateway, { waitMs: serversWaitMs, signal }, show);
  board.hide();
  if (signal.aborted) return;
  // A gateway that prints nothing does not load them.
  const { clientPrograms } = await import("@toolcrib/clients");
  const { isInstalled } = await import("../connect/client-file.ts");
  const found = clientPrograms.filter((program) => isInstalled(program, context));
  const instructions = clientLines(endpoint, ownCommand(context), found, output);
  output.print("", ...instructions, "", ...nextCommands(context, gateway), "");
  output.prose(...callApprovalLines(gateway.policySituation(), ownCommand(context)));
  printPauses(output, gateway.status().pauses);
  output.print(output.style("dim", "Press Ctrl-C to stop."));
  if (isFinished) return;
  output.print("");
  await pollSources(gateway, { waitMs: Number.POSITIVE_INFINITY, signal }, show);
  board.hide();
}

/** Prints each server that had failed at its start when it gets ready. Ends when all are, or with the command. */
export async function announceLate(context: CliContext, gateway: Gateway, board: StartBoard): Promise<void> {
  const { signal } = context;
  while (!signal.aborted && board.showLate(listedSources(gateway.sources()))) {
    // An abort ends the delay.
    await delay(latePollMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

function nextCommands(context: CliContext, gateway: Gateway): string[] {
  // The commands that are printed use the identity of the command line.
  const identity: Identity = localIdentity("cli", "cli");
  const tools = gateway.listTools(identity).filter(({ isOwn }) => !isOwn);
  const example = findExampleCall(described(gateway, identity, tools));
  const named = example?.tool ?? tools[0];
  return nextLines(
    {
      command: ownCommand(context),
      hasWaiting: listedSources(gateway.sources()).some(({ waitingTools = 0 }) => waitingTools > 0),
      searchWords: named === undefined ? undefined : wordsOf(named.id.slice(named.namespace.length + 1)),
      example,
    },
    context.output,
  );
}

/** Describes each of `tools` when it is looked at: one line about one of them is printed, and there can be thousands. */
function* described(
  gateway: Gateway,
  identity: Identity,
  tools: ReturnType<Gateway["listTools"]>,
): Generator<ToolDescription> {
  for (const summary of tools) {
    const tool = gateway.describe(identity, summary.id);
    if (tool !== undefined) yield { ...summary, ...(tool.definition as object) } as ToolDescription;
  }
}
