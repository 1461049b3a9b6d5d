/**
 * `toolcrib` without a command. On a terminal it leads from nothing to a first call: import, serve, connect, call. Each
 * step asks, can be skipped, and names the command that does the same. Where a gateway runs already it shows how that
 * one is, and without a terminal a short help.
 */

import { setTimeout as delay } from "node:timers/promises";
import { clientPrograms } from "@toolcrib/clients";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { getFromGateway } from "../access/gateway-api.ts";
import { findReachableGateway, installedIds, openToolAccess } from "../access/open-tool-access.ts";
import type { ServerState } from "../access/tool-access.ts";
import { approve, callFacts } from "../approve/approve.ts";
import { callApprovalLines } from "../approve/call-approvals.ts";
import { openApprovals } from "../approve/open-approvals.ts";
import { ensureGateway } from "../bridge/ensure-gateway.ts";
import type { CliContext } from "../cli-context.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { isInstalled } from "../connect/client-file.ts";
import { connectClients } from "../connect/connect-client.ts";
import { listConnections } from "../connect/connection-store.ts";
import { connectedNames } from "../connect/token-state.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { declineImport, importClients, makePlan } from "../import/import-clients.ts";
import type { ImportPlan } from "../import/import-types.ts";
import { planMoves } from "../import/move-servers.ts";
import { writeConfig } from "../init/write-config.ts";
import { counted } from "../output/counted.ts";
import { wrapProse } from "../output/fit-styled.ts";
import { reasonLine, safeLine } from "../output/output.ts";
import { withProgress } from "../progress/progress.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { argumentsWord, findExampleCall } from "../serve/example-call.ts";
import { ownCommand } from "../serve/own-command.ts";
import { noSourcesText } from "../serve/serve-text.ts";
import { asTyped } from "../serve/source-table.ts";
import { callTool } from "../tools/call-tool.ts";
import { openConfigFile } from "../toolspec/config-file.ts";
import { commandRows } from "./command-rows.ts";
import { shortHelp } from "./short-help.ts";

/** Most servers whose new tools the walk asks about. */
const approvalsMaxCount = 20;
/** Most tools among which the example is chosen. */
const describedMaxCount = 50;
/** Longest time that the walk waits for servers, such as those whose packages are fetched, in milliseconds. */
const startsWaitMs = 180_000;
/** Milliseconds between two polls of their states. */
const pollMs = 300;

/** Runs the command. */
export async function firstRun(context: CliContext): Promise<ExitCode> {
  const { output, options } = context;
  if (!canAsk(context) || !output.isTerminal || output.isJson) {
    const lines = shortHelp(ownCommand(context));
    output.json({ help: lines.join("\n") });
    output.print(...lines);
    return exitCodes.usage;
  }
  const running = await findReachableGateway(options.home);
  if (running !== undefined && hasConfig(context)) {
    await showSummary(context, running);
    return exitCodes.done;
  }
  return await walk(context);
}

function hasConfig(context: CliContext): boolean {
  try {
    return findConfigFiles(context).length > 0;
  } catch {
    return false;
  }
}

/** A short status, and what one does most. */
async function showSummary(
  context: CliContext,
  running: NonNullable<Awaited<ReturnType<typeof findReachableGateway>>>,
): Promise<void> {
  const { output, options, signal } = context;
  const status = (await getFromGateway(running, "/api/v1/status", signal)) as unknown as {
    readonly tools: number;
    readonly servers: readonly { readonly id: string; readonly health: { readonly state: string } }[];
    readonly waiting?: readonly { readonly server: string }[];
  };
  const command = ownCommand(context);
  const hasClient = clientPrograms.some((program) => isInstalled(program, context));
  const failed = status.servers.filter(
    ({ health }) => health.state === "failed" || health.state === "unavailable",
  );
  const waiting = status.waiting ?? [];
  const connected = await connectedNames(context, listConnections(options.home));
  output.prose(
    `${output.style("green", "✓")} The gateway runs at ${safeLine(running.url)}: ${counted(status.servers.length, "server")}, ${counted(status.tools, "tool")}`,
    ...(failed.length === 0
      ? []
      : [
          `${output.style("red", "✗")} ${failed.map(({ id }) => safeLine(id)).join(", ")}: see ${command} status`,
        ]),
    ...(waiting.length === 0
      ? []
      : [
          `${output.style("yellow", "!")} new tools of ${waiting.map(({ server }) => safeLine(server)).join(", ")} wait: ${command} approve`,
        ]),
    ...(status.servers.length === 0 && status.tools === 0 ? [`  Next: ${noSourcesText(command)}`] : []),
    connected.length === 0 ? "  No client is connected." : `  Connected: ${connected.join(", ")}`,
  );
  output.print(
    "",
    ...commandRows(output, command, [
      ["status", "what runs, in full"],
      ["search WORDS", "find a tool"],
      ["call TOOL", "call one"],
      ["connect", hasClient ? "connect another client" : "list the clients that it knows"],
      ["help", "all commands"],
    ]),
  );
}

async function walk(context: CliContext): Promise<ExitCode> {
  const { output, options } = context;
  const command = ownCommand(context);
  output.print(output.style("bold", "Welcome. Four steps to a first call; each can be skipped."));
  step(context, 1, "Servers", `${command} import`);
  if (!(await importStep(context))) return exitCodes.done;
  step(context, 2, "The gateway", `${command} serve`);
  const running = await findReachableGateway(options.home);
  if (running !== undefined) output.prose(`It runs at ${safeLine(running.url)}.`);
  else if (await asks(context, "Start it now, in the background?")) await startStep(context);
  step(context, 3, "Clients", `${command} connect --all`);
  await connectStep(context);
  const hasWaited = await moveStep(context);
  step(context, 4, "A first call", `${command} call TOOL`);
  await callStep(context, { hasWaited });
  output.prose(...(await waitingCallLines(context)));
  output.print(
    "",
    output.style("bold", "Next:"),
    ...commandRows(output, command, [
      ["status", "what runs, and what waits"],
      ["approve", "look at new tools, and allow them"],
      ["add NAME", "add a server or REST API"],
      ["help", "all commands"],
    ]),
  );
  return exitCodes.done;
}

function step({ output }: CliContext, number: number, title: string, command: string): void {
  output.prose(
    "",
    `${output.style("bold", `${number}. ${title}`)}  ${output.style("dim", `(the same: ${command})`)}`,
  );
}

async function asks(context: CliContext, question: string): Promise<boolean> {
  const lines = wrapProse(`${question} [Y/n]`, context.output.width - 1);
  const answer = await askLine(`${lines.join("\n")} `, context);
  return /^(?:y(?:es)?)?$/i.test(answer);
}

/** @returns whether there is a configuration */
async function importStep(context: CliContext): Promise<boolean> {
  const { output } = context;
  const file = openConfigFile(context);
  const plan = await makePlan(context, file, [], { isGuided: true });
  noteUnwanted(context, plan);
  const clients = new Set(plan.servers.flatMap(({ origins }) => origins.map(({ client }) => client)));
  if (plan.servers.length > 0) {
    const question = `${counted(plan.servers.length, "server")} of ${[...clients].join(", ")} found. Look at them?`;
    if (await asks(context, question)) await importClients(context, [], { isGuided: true });
    else await declineImport(context, file, plan);
  } else if (plan.leftOut.some(({ unwanted }) => unwanted !== undefined))
    output.print("No client has another server.");
  else
    output.print(
      plan.leftOut.some(({ present }) => present !== undefined)
        ? "Everything that clients have is in the configuration."
        : "No client on this machine has a server to import.",
    );
  if (!hasConfig(context)) {
    if (!(await asks(context, "Write a configuration with examples in comments?"))) {
      output.print("Without a configuration there is nothing to serve.");
      return false;
    }
    await writeConfig(context, ".", { isGuided: true });
  }
  if (!(await hasSources(context)))
    output.prose(
      `The configuration has no server yet: ${ownCommand(context)} add NAME adds one, now in another terminal or later.`,
    );
  return true;
}

/** Whether the configuration has a server, an API or a package, or cannot be read: then the next step says why. */
async function hasSources(context: CliContext): Promise<boolean> {
  try {
    const { toolServers, toolspecs, disabled } = (await loadCliConfig(context)).config;
    const count = [toolServers, toolspecs, disabled.toolServers, disabled.toolspecs].flat().length;
    return count > 0 || (await installedIds(context)).length > 0;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return true;
  }
}

/** Says which servers of clients are not offered, because the user did not want them before, and how to get them. */
function noteUnwanted(context: CliContext, { leftOut }: ImportPlan): void {
  const offer = `${ownCommand(context)} import`;
  for (const reason of ["removed", "declined"] as const) {
    const own = leftOut.filter(({ unwanted }) => unwanted?.reason === reason);
    if (own.length === 0) continue;
    const names = [...new Set(own.map(({ origin }) => safeLine(origin.name)))].join(", ");
    const command = reason === "removed" ? `${offer} --with-removed` : offer;
    context.output.prose(
      `Left out, because you ${reason} ${own.length === 1 ? "it" : "them"} before: ${names}. To be asked again: ${command}`,
    );
  }
}

async function startStep(context: CliContext): Promise<void> {
  const { output } = context;
  try {
    const { gateway } = await ensureGateway(context);
    output.prose(
      `${output.style("green", "✓")} it runs at ${safeLine(gateway.url)} (process ${gateway.pid}) until you stop it: kill ${gateway.pid}`,
    );
  } catch (error) {
    // An address in use must not end the walk: clients can be connected before a gateway runs.
    noteUnlessInterrupted(context, error);
  }
}

async function connectStep(context: CliContext): Promise<void> {
  const { output, options } = context;
  const connected = new Set(listConnections(options.home));
  const found = clientPrograms.filter(
    (program) => isInstalled(program, context) && !connected.has(program.id),
  );
  if (found.length === 0) {
    output.prose(
      connected.size > 0
        ? "All clients are connected."
        : `No client is found on this machine. The known ones are listed by ${ownCommand(context)} connect; an entry to write by hand is printed by ${ownCommand(context)} connect NAME --print`,
    );
    return;
  }
  const names = found.map(({ name }) => name).join(", ");
  if (!(await asks(context, `${names} found. Look at what would be written?`))) return;
  try {
    await connectClients(
      context,
      found.map(({ id }) => id),
      {},
    );
  } catch (error) {
    // One client's file must not end the walk.
    noteUnlessInterrupted(context, error);
  }
}

/**
 * Offers to take the servers that the gateway serves out of the connected clients, which would have them twice. Those
 * that do not answer the gateway are named before, with the reasons, and can stay in the clients.
 *
 * @returns whether it was asked about servers that are starting
 */
async function moveStep(context: CliContext): Promise<boolean> {
  const { output, options } = context;
  const connected = listConnections(options.home);
  // Without a gateway the clients would lose the servers.
  if (connected.length === 0 || (await findReachableGateway(options.home)) === undefined) return false;
  let hasWaited = false;
  try {
    const plan = await makePlan(context, openConfigFile(context), connected, { isGuided: true });
    // What was not agreed to at the first step is not imported at this one.
    if (plan.servers.length > 0) return false;
    const { ids, moves } = await planMoves(context, plan);
    if (moves.length === 0) return false;
    output.prose(
      "",
      `${moves.map(({ program }) => program.name).join(", ")} still ${moves.length === 1 ? "starts" : "start"} ${counted(ids.length, "server")} that the gateway serves now. The same as what comes next: ${ownCommand(context)} import --move`,
    );
    const starting = await findStarting(context);
    hasWaited = starting.some(({ id }) => ids.includes(id));
    if (hasWaited) await untilStarted(context, starting);
    const kept = await keptInClients(context, ids);
    const moving = await planMoves(context, plan, kept);
    const count = moving.ids.length;
    if (count === 0) {
      output.print(ids.length === 1 ? "It stays in the clients." : "All of them stay in the clients.");
      return hasWaited;
    }
    const clients = moving.moves.map(({ program }) => program.id);
    const what = kept.size === 0 ? (count === 1 ? "it" : "them") : `the other ${counted(count, "server")}`;
    if (await asks(context, `Take ${what} out of the clients?`))
      await importClients(context, clients, { move: true, isGuided: true, kept });
  } catch (error) {
    // One client's file must not end the walk.
    noteUnlessInterrupted(context, error);
  }
  return hasWaited;
}

/**
 * Names those of `ids` that do not answer the gateway, and asks whether they stay in the clients.
 *
 * @returns the reasons of those that do, by id
 */
async function keptInClients(
  context: CliContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { output } = context;
  const silent = new Map<string, string>();
  {
    await using access = await openToolAccess(context);
    for (const { id, kind, state, reason = state } of await access.servers()) {
      // One that is idle answered before, and starts at its next call.
      if (kind !== "server" || !ids.includes(id) || state === "ready" || state === "idle") continue;
      silent.set(id, `it does not answer the gateway: ${reason}`);
    }
  }
  if (silent.size === 0) return silent;
  output.print(silent.size === 1 ? "One does not answer the gateway:" : "These do not answer the gateway:");
  for (const [id, reason] of silent)
    output.prose(`  ${output.style("red", "✗")} ${safeLine(id)}: ${safeLine(reason)}`);
  const stays = await asks(context, `Leave ${silent.size === 1 ? "it" : "them"} in the clients?`);
  return stays ? silent : new Map();
}

function noteUnlessInterrupted(context: CliContext, error: unknown): void {
  if (!isCodedError(error) || error.code === "CLI_INTERRUPTED") throw error;
  context.output.note(
    `${messageOf(error)}${error.hint === undefined ? "" : `\nhint: ${asTyped(error.hint, context)}`}`,
  );
}

/** @param options `hasWaited`: whether it was asked about servers that are starting, and is not asked again */
async function callStep(context: CliContext, { hasWaited }: { readonly hasWaited: boolean }): Promise<void> {
  const { output, options } = context;
  if ((await findReachableGateway(options.home)) === undefined) {
    output.print("Without a gateway there is nothing to call.");
    return;
  }
  const found = await findStarting(context);
  const starting = hasWaited ? found : await untilStarted(context, found);
  const example = await findExample(context);
  if (example === undefined) {
    output.prose(...(await whyNoExample(context, starting)).split("\n"));
    return;
  }
  const { tool, args } = example;
  if (!(await asks(context, `Call ${safeLine(tool.wireName)} with ${safeLine(JSON.stringify(args))}?`)))
    return;
  output.print(
    output.style("dim", `$ ${ownCommand(context)} call ${safeLine(tool.wireName)} ${argumentsWord(args)}`),
  );
  await callTool(context, tool.id, JSON.stringify(args), {});
}

/** Returns the servers that are starting. */
async function findStarting(context: CliContext): Promise<readonly ServerState[]> {
  await using access = await openToolAccess(context);
  // The first list waits a short time for servers that are starting.
  await access.list();
  return (await access.servers()).filter(({ state }) => state === "starting");
}

/** Waits for servers that are starting, for a limited time and if that is wanted. @returns those that still are */
async function untilStarted(
  context: CliContext,
  found: readonly ServerState[],
): Promise<readonly ServerState[]> {
  const { output, now, signal } = context;
  let starting = found;
  if (starting.length === 0) return starting;
  await using access = await openToolAccess(context);
  output.print("Not ready yet:");
  for (const { id, reason = "starting" } of starting)
    output.prose(`  ${output.style("yellow", "…")} ${safeLine(id)}: ${asTyped(safeLine(reason), context)}`);
  const question = `Wait until ${starting.length === 1 ? "it is" : "they are"} ready, at most ${startsWaitMs / 60_000} minutes?`;
  if (!(await asks(context, question))) return starting;
  const untilMs = now() + startsWaitMs;
  await withProgress(
    context,
    () => `Waiting for ${starting.map(({ id, reason = "starting" }) => `${id} (${reason})`).join(", ")}`,
    async () => {
      while (starting.length > 0 && now() < untilMs) {
        await delay(pollMs, undefined, { signal });
        starting = (await access.servers()).filter(({ state }) => state === "starting");
      }
    },
  );
  return starting;
}

/** Announces the calls of clients that will wait: those of this terminal do not. */
async function waitingCallLines(context: CliContext): Promise<readonly string[]> {
  if ((await findReachableGateway(context.options.home)) === undefined) return [];
  await using access = await openApprovals(context, undefined);
  const lines = callApprovalLines(await callFacts(access), ownCommand(context));
  return lines.length === 0 ? [] : ["", ...lines];
}

/** Returns why there is no tool to try, and what to do about it. */
async function whyNoExample(context: CliContext, starting: readonly ServerState[]): Promise<string> {
  const command = ownCommand(context);
  const names = (ids: readonly string[]) => ids.map(safeLine).join(", ");
  if (starting.length > 0) {
    const ids = names(starting.map(({ id }) => id));
    return `No call yet: not ready are ${ids}. When ${command} status shows them ready, allow their tools with ${command} approve, and call one with ${command} call TOOL.`;
  }
  const waiting = await waitingServers(context);
  if (waiting.length > 0)
    return `No call yet: the new tools of ${names(waiting)} wait for your approval. Allow them with ${command} approve, and call one with ${command} call TOOL.`;
  await using access = await openToolAccess(context);
  if ((await access.list()).every(({ isOwn }) => isOwn)) {
    const servers = await access.servers();
    if (servers.length === 0)
      return `No call yet: the configuration has no server. Add one with ${command} add NAME, and call a tool of it with ${command} call TOOL.`;
    const failed = servers.filter(({ reason }) => reason !== undefined);
    const reasons = failed.map(
      ({ id, reason = "" }) => `\n  ${safeLine(id)}: ${asTyped(reasonLine(reason), context)}`,
    );
    return `No server offers a tool${reasons.length === 0 ? "" : ":"}${reasons.join("")}\nSee ${command} status.`;
  }
  return `No tool can be called without arguments that only you know. Find one with ${command} search WORDS or ${command} list, and see its arguments with ${command} describe TOOL.`;
}

/** Finds a tool that can be tried, after asking about new ones. */
async function findExample(context: CliContext): Promise<ReturnType<typeof findExampleCall>> {
  await askAboutNew(context);
  await using access = await openToolAccess(context);
  const tools = (await access.list()).filter(({ isOwn }) => !isOwn);
  const described = await Promise.all(tools.slice(0, describedMaxCount).map(({ id }) => access.describe(id)));
  return findExampleCall(described.filter((tool) => tool !== undefined));
}

async function askAboutNew(context: CliContext): Promise<void> {
  const servers = await waitingServers(context);
  for (const server of servers.slice(0, approvalsMaxCount)) {
    if (await asks(context, `New tools of ${safeLine(server)} wait. Look at them?`))
      await approve(context, server, {});
  }
}

async function waitingServers(context: CliContext): Promise<readonly string[]> {
  await using access = await openApprovals(context, undefined);
  const { servers } = await access.waiting();
  return servers.map(({ server }) => server);
}
