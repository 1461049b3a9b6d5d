/**
 * `toolcrib status`: shows the running gateway of this home, or what `serve` would
 * serve. The exit code is 5 if no gateway is running, for scripts.
 */

import type { WaitingApprovals } from "@toolcrib/admission";
import { isCodedError } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { findReachableGateways } from "../access/open-tool-access.ts";
import { differenceLines } from "../adopted/difference-lines.ts";
import { outdatedLine } from "../approve/approve.ts";
import type { CliContext } from "../cli-context.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import type { Finding } from "../doctor/check.ts";
import { checkLogin } from "../doctor/check-login.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { printPauses } from "../guards/pause.ts";
import { counted } from "../output/counted.ts";
import { type Output, reasonLine, type Style, safeLine } from "../output/output.ts";
import { identitySecretLines, identitySecrets } from "../secret/identity-secrets.ts";
import { configurationLines } from "./configuration-lines.ts";
import { containmentText, notStartedText } from "./containment-text.ts";
import { ownCommand } from "./own-command.ts";
import { type RunningFacts, readRunning, runningJson } from "./running-facts.ts";
import { noSourcesText } from "./serve-text.ts";
import { asTyped, printSources, type SourceContext } from "./source-table.ts";
import { reasonOrStep } from "./starting-text.ts";

/** Runs the command. */
export async function showStatus(context: CliContext): Promise<ExitCode> {
  const [running, ...others] = await findReachableGateways(context.options.home);
  if (running === undefined) return showNone(context);
  const facts = await readRunning(context, running, others);
  context.output.json(runningJson(facts));
  printRunning(context, facts);
  return exitCodes.done;
}

/** Prints what is known about a running gateway. */
export function printRunning(
  context: SourceContext & Pick<CliContext, "now">,
  { running, others, status, calls, changed, ownSecrets }: RunningFacts,
): void {
  const { output } = context;
  // A gateway of an earlier version has no toolspecs.
  const { servers, toolspecs = [], tools, sessions, callsInFlight, quarantined } = status;
  output.prose(
    `${output.style("bold", `Toolcrib ${safeLine(status.version)}`)} serves ${output.style("cyan", `${running.url}/mcp`)}`,
    output.style(
      "dim",
      `process ${running.pid}, up ${upFor(context.now() - Date.parse(status.startedAt))}, configuration ${running.configFiles.map(safeLine).join(", ")}`,
    ),
    ...others.map((other) =>
      output.style(
        "dim",
        `another gateway of this home: ${safeLine(other.url)}/mcp, process ${other.pid}, configuration ${other.configFiles.map(safeLine).join(", ")}`,
      ),
    ),
    ...changed.map(
      (path) =>
        `${output.style("yellow", "changed")} ${safeLine(path)} and is not in force: ${asTyped("toolcrib reload", context)} says why`,
    ),
    ...configurationLines(status, output),
    "",
  );
  if (servers.length > 0) {
    printSources(
      context,
      [
        { title: "SERVER" },
        { title: "STATE", paint: (cell) => output.style(stateStyle(cell.trim()), cell) },
        { title: "TRANSPORT" },
        { title: "TOOLS" },
        { title: "RESTARTS" },
        { title: "PROCESS" },
        { title: "SANDBOX", isBelow: true },
      ],
      servers.map(serverRow),
    );
  }
  if (toolspecs.length > 0) {
    printSources(
      context,
      [
        { title: "TOOLSPEC" },
        { title: "STATE", paint: (cell) => output.style(stateStyle(cell.trim()), cell) },
        { title: "VERSION" },
        { title: "TOOLS" },
        { title: "HOSTS", canShrink: true },
        { title: "SECRETS", canShrink: true },
      ],
      toolspecs.map(toolspecRow),
    );
  }
  // A gateway of an earlier version has no packages.
  const { packages = [] } = status as Partial<GatewayStatus>;
  printPackages(context, packages);
  for (const source of [...servers, ...packages]) {
    const { id, containment } = source;
    // Of a command that was not found, nothing runs that could be contained.
    if (notStartedText(source) !== undefined) continue;
    // A gateway of an earlier version does not list the parts.
    const { notEnforcedParts: parts = [], judgedParts = [], uncontainedReason } = containment ?? {};
    if (parts.length === 0) continue;
    const reason = uncontainedReason === undefined ? "" : `; ${safeLine(uncontainedReason)}`;
    output.prose(
      `${output.style("yellow", "not enforced")} ${safeLine(id)}: ${parts.map((part) => partText(part, judgedParts)).join(", ")}${reason}`,
    );
  }
  output.prose(
    ...servers.flatMap((server) => nameLines(server, context)),
    ...servers.flatMap((server) => differenceLines(server, output)),
    ...servers.flatMap(loginLines),
    ...[...servers, ...packages].flatMap(clientSessionLines),
    ...identitySecretLines(ownSecrets),
    ...countLines(output, [
      ...sourceCounts({ servers, toolspecs, packages }, context),
      ["tools", `${tools}${ownText(status)}`],
      ["sessions", String(sessions)],
      ["calls", `${callsInFlight} in flight${taskText(status)}`],
    ]),
    ...listLines(status),
  );
  for (const { id, reason, since } of quarantined) {
    // A gateway of an earlier version does not report the time.
    const time = since === undefined ? "" : ` since ${safeLine(since)}`;
    output.prose(`${output.style("yellow", `quarantined${time}`)} ${safeLine(id)}: ${safeLine(reason)}`);
  }
  // A gateway of an earlier version has no switches.
  for (const name of status.disabledTools ?? [])
    output.prose(`${output.style("yellow", "disabled")} tool ${safeLine(name)}`);
  printGuards(context, status);
  output.prose(...hookLines(output, status.hooks));
  output.prose(...callLines(context, calls));
  const { policy } = status;
  if (policy?.problem !== undefined) {
    const [first = "", ...others] = policy.problem.split("\n").map(safeLine);
    output.prose(
      `${output.style("yellow", "not in force")} the changed policy files: ${first}`,
      ...others.map((line) => `  ${line}`),
    );
  }
  output.prose(...engineLines(output, policy?.engine));
  output.prose(...idleRuleLines(output, status.idleRules));
  output.prose(...anchorLines(output, status.anchors), ...telemetryLines(output, status.telemetry));
  output.prose(...embeddingsLines(output, status.embeddings));
}

/** A contained process that started without names keeps running without them. A gateway finds a switch within a second. */
function nameLines({ id, containment }: SourceStatus, context: SourceContext): string[] {
  if (containment?.lacksNames !== true) return [];
  const command = (verb: string) => asTyped(`toolcrib ${verb} server ${safeLine(id)}`, context);
  return [
    `${context.output.style("yellow", "no names")} ${safeLine(id)}: it started on a machine that was too busy to try its network, and cannot look up hosts (DNS). Start it again: ${command("disable")} && sleep 2 && ${command("enable")}`,
  ];
}

/** Returns counts as a list with aligned labels. */
function countLines(output: Output, counts: readonly (readonly [label: string, text: string])[]): string[] {
  const width = Math.max(...counts.map(([label]) => label.length));
  return counts.map(([label, text]) => `${output.style("dim", label.padEnd(width))}  ${text}`);
}

/** The counts of each kind of source that there is; without any, how to get one. */
function sourceCounts(
  kinds: { readonly [kind: string]: readonly SourceStatus[] },
  context: SourceContext,
): (readonly [label: string, text: string])[] {
  const present = Object.entries(kinds).filter(([, sources]) => sources.length > 0);
  if (present.length === 0) return [["servers", `none yet; ${asTyped(noSourcesText("toolcrib"), context)}`]];
  return present.map(([kind, sources]) => [kind, stateCounts(sources)]);
}

/** The number of sources in each state. */
function stateCounts(sources: readonly SourceStatus[]): string {
  const states = [...Map.groupBy(sources, ({ health }) => health.state)];
  const [first] = states;
  if (states.length === 1) return `${sources.length} ${first?.[0] ?? ""}`;
  return `${sources.length}: ${states.map(([state, own]) => `${own.length} ${state}`).join(", ")}`;
}

function stateStyle(state: string): Style {
  if (state === "ready" || state === "idle") return "green";
  if (state === "disabled") return "dim";
  return state === "starting" ? "yellow" : "red";
}

/** Calls that are shown one by one. */
const shownCalls = { waiting: 10, outdated: 2 };

/** The calls that wait for an approval, and the newest for which one would not count any more. */
function callLines(context: SourceContext, calls: WaitingApprovals["calls"]): string[] {
  const { output } = context;
  const waiting = calls.filter(({ outdated }) => outdated === undefined);
  const outdated = calls
    .filter((call) => call.outdated !== undefined)
    .toSorted((one, other) => other.requestedAt - one.requestedAt);
  const hidden =
    Math.max(0, waiting.length - shownCalls.waiting) + Math.max(0, outdated.length - shownCalls.outdated);
  return [
    ...waiting.slice(0, shownCalls.waiting).map((call) => waitingLine(output, call)),
    ...outdated.slice(0, shownCalls.outdated).map((call) => outdatedLine(output, call)),
    ...(hidden === 0 ? [] : [`and ${counted(hidden, "more call")}: ${asTyped("toolcrib approve", context)}`]),
  ];
}

/** A call that waits for an approval. */
function waitingLine(output: Output, { id, client, tool }: WaitingApprovals["calls"][number]): string {
  return `${output.style("yellow", "waits for approval")} ${safeLine(id)}: ${safeLine(client.name)} wants to call ${safeLine(tool)}`;
}

/** The failures of the policy engine. A gateway of an earlier version does not count them. */
function engineLines(
  output: Output,
  engine: NonNullable<GatewayStatus["policy"]>["engine"],
): readonly string[] {
  if (engine === undefined) return [];
  const { count, problem, isDown } = engine;
  const state = isDown
    ? output.style("red", "calls are denied for up to a minute")
    : output.style("yellow", "replaced");
  return [`${state}: the policy engine failed (${counted(count, "time")}, lastly: ${safeLine(problem)})`];
}

/** The rules without effect. A gateway of an earlier version does not list any. */
function idleRuleLines(output: Output, rules: GatewayStatus["idleRules"] = []): string[] {
  return rules.map(({ path, pattern, reason, hint }) => {
    const advice = hint === undefined ? "" : `; ${hint}`;
    return `${output.style("yellow", "no effect")} ${safeLine(`${path} "${pattern}": ${reason}${advice}`)}`;
  });
}

/** The hooks, and what became of the questions to them. A gateway of an earlier version does not list any. */
function hookLines(output: Output, hooks: GatewayStatus["hooks"] = []): string[] {
  return hooks.map(({ name, phase, tools, clients, asked, denied, replaced, failed, reason }) => {
    const about = tools === undefined ? "" : ` about ${tools.map(safeLine).join(", ")}`;
    const of = clients === undefined ? "" : ` of ${clients.map(safeLine).join(", ")}`;
    const counts =
      asked === 0 ? "not asked" : `${asked} asked, ${denied} denied, ${replaced} replaced, ${failed} failed`;
    const why =
      reason === undefined ? "" : `; ${output.style("yellow", "the last one failed")}: ${reasonLine(reason)}`;
    return `hook ${safeLine(name)} (${phase})${about}${of}: ${counts}${why}`;
  });
}

/** The places that do not take the signed ends of the trail. A gateway of an earlier version does not list any. */
function anchorLines(output: Output, anchors: GatewayStatus["anchors"] = []): string[] {
  return anchors.flatMap(({ place, reason, dropped }) => {
    if (reason === undefined) return [];
    const lost = dropped === 0 ? "" : ` (${counted(dropped, "signed end")} lost)`;
    return [`${output.style("yellow", "not anchored")} ${safeLine(place)}: ${reasonLine(reason)}${lost}`];
  });
}

/** The telemetry that is not delivered, or was lost. */
function telemetryLines(output: Output, telemetry: GatewayStatus["telemetry"]): string[] {
  return (telemetry?.signals ?? []).flatMap(({ signal, dropped, reason }) => {
    if (reason === undefined && dropped === 0) return [];
    const lost = dropped === 0 ? "" : ` (${dropped} lost)`;
    const why = reason === undefined ? "delivered again" : reasonLine(reason);
    const word = reason === undefined ? "telemetry" : "not delivered";
    return [`${output.style("yellow", word)} ${safeLine(signal)}: ${why}${lost}`];
  });
}

/** Search by meaning. A gateway of an earlier version has none. */
function embeddingsLines(output: Output, embeddings: GatewayStatus["embeddings"]): string[] {
  if (embeddings === undefined) return [];
  const { model, vectors, tools, reason } = embeddings;
  const why = reason === undefined ? "" : `; ${output.style("yellow", "not working")}: ${reasonLine(reason)}`;
  return [`search by meaning (${safeLine(model)}): ${vectors} of ${counted(tools, "tool")}${why}`];
}

/** Prints limits and pauses. A gateway of an earlier version has no limits. */
function printGuards(
  { output }: Pick<CliContext, "output">,
  {
    limits = [],
    pauses,
    pausesProblem,
  }: Pick<GatewayStatus, "limits" | "pausesProblem"> & { readonly pauses: Parameters<typeof printPauses>[1] },
): void {
  for (const limit of limits) output.prose(limitLine(limit));
  printPauses(output, pauses);
  if (pausesProblem !== undefined)
    output.prose(`${output.style("red", "every call is refused")}: ${safeLine(pausesProblem)}`);
}

/** Returns a limit as one line: whether one of its windows is open, and what the one that used most has left. */
function limitLine({ name, refused, window, top: [first] }: GatewayStatus["limits"][number]): string {
  const opening = window?.opensAt === undefined ? "" : ` until ${safeLine(window.opensAt)}`;
  const windowText = window === undefined ? [] : [window.isOpen ? "open now" : `closed${opening}`];
  const left = Object.entries(first?.left ?? {}).map(([kind, value]) => `${value} ${kind} left`);
  const now = first?.callsNow === undefined ? [] : [`${first.callsNow} calls possible now`];
  const until = first?.until === undefined ? "" : ` until ${safeLine(first.until)}`;
  // A limit that has only windows counts nothing; a budget of an earlier period is as good as unused.
  const amounts = [...left, ...now].join(", ");
  const most = first === undefined || amounts === "" ? [] : [`${safeLine(first.of)}: ${amounts}${until}`];
  const texts = [...windowText, ...most];
  const text = texts.length === 0 ? "not used" : texts.join("; ");
  return `limit ${safeLine(name)}: ${text}${refused === 0 ? "" : `; ${counted(refused, "call")} refused`}`;
}

/** The sessions of a server that belong to one client each: they and their processes are not in its row. */
function clientSessionLines({ id, transport, clientSessions }: SourceStatus): string[] {
  if (clientSessions === undefined) return [];
  const processes = transport === "stdio" ? ", each with a process of its own" : "";
  return [`${safeLine(id)}: ${counted(clientSessions, "session")} of clients${processes}`];
}

/** A part that nothing contains, with what stands in for it. */
function partText(part: string, judgedParts: readonly string[]): string {
  return `${safeLine(part)}${judgedParts.includes(part) ? " (calls are judged by what tools declare)" : ""}`;
}

function serverRow(status: SourceStatus): string[] {
  // A server that is disabled has never been started.
  const { id, health, transport, tools, restarts = "", pid } = status;
  return [
    safeLine(id),
    health.state,
    transport,
    String(tools),
    String(restarts),
    pid === undefined ? "" : String(pid),
    containmentText(status),
    reasonLine(reasonOrStep(health) ?? ""),
  ];
}

function toolspecRow({ id, name, version, health, tools, hosts, credentials }: SourceStatus): string[] {
  return [
    safeLine(id),
    health.state,
    safeLine([id === name ? undefined : name, version].filter((part) => part !== undefined).join(" ")),
    String(tools),
    (hosts ?? []).map(safeLine).join(", "),
    (credentials ?? []).map(({ secret }) => safeLine(secret)).join(", "),
    reasonLine(health.reason ?? ""),
  ];
}

function printPackages(context: SourceContext, packages: readonly SourceStatus[]): void {
  const { output } = context;
  if (packages.length === 0) return;
  printSources(
    context,
    [
      { title: "PACKAGE" },
      { title: "STATE", paint: (cell) => output.style(stateStyle(cell.trim()), cell) },
      { title: "VERSION" },
      { title: "RUNS" },
      { title: "TRUST" },
      { title: "SANDBOX", isBelow: true },
    ],
    packages.map(packageRow),
  );
}

function packageRow(status: SourceStatus): string[] {
  const { id, health, version = "", transport, trustState = "" } = status;
  return [
    safeLine(id),
    health.state,
    safeLine(version),
    transport,
    trustState,
    transport === "local" ? containmentText(status) : "",
    reasonLine(health.reason ?? ""),
  ];
}

function upFor(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

async function showNone(context: CliContext): Promise<ExitCode> {
  const { output, options } = context;
  output.prose(`No gateway is running for ${options.home}`);
  try {
    const { config, files } = await loadCliConfig(context);
    const servers = config.toolServers.map(({ id, transport }) => ({ id, transport: transport.kind }));
    const toolspecs = config.toolspecs.map(({ id, pair }) => ({ id, version: pair?.manifest.version }));
    const logins: Finding[] = [];
    for (const server of config.toolServers) {
      const login = await checkLogin(context, config, server);
      if (login !== undefined) logins.push(login);
    }
    const ownSecrets = await identitySecrets(context, config);
    output.json({
      running: false,
      home: options.home,
      configFiles: files,
      servers,
      toolspecs,
      disabled: [...config.disabled.toolServers, ...config.disabled.toolspecs].map(({ id }) => id),
      logins,
      identitySecrets: ownSecrets,
    });
    output.prose(
      `${ownCommand(context)} serve would serve ${files.join(", ")}: ${[...servers, ...toolspecs].map(({ id }) => id).join(", ") || "no servers"}`,
    );
    const off = [...config.disabled.toolServers, ...config.disabled.toolspecs].map(({ id }) => id);
    for (const id of off) output.prose(`${output.style("yellow", "disabled")} server ${safeLine(id)}`);
    for (const { subject, message, fix } of logins)
      output.prose(safeLine(`${subject}: ${message}${fix === undefined ? "" : ` (${fix})`}`));
    output.prose(...identitySecretLines(ownSecrets));
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const { code, message, hint } = error;
    output.json({ running: false, home: options.home, problem: { code, message, hint } });
    output.prose(message, ...(hint === undefined ? [] : [`${output.style("cyan", "hint")}: ${hint}`]));
  }
  return exitCodes.unavailable;
}

/** The login that the tools of a server are listed with. */
function loginLines({ id, login }: SourceStatus): readonly string[] {
  if (login === undefined) return [];
  const { state, issuer, scopes, accessTokenEnds } = login;
  const at = issuer === undefined ? "" : ` at ${safeLine(issuer)}`;
  const having = scopes.length === 0 ? "" : `, scopes ${safeLine(scopes.join(" "))}`;
  const until = accessTokenEnds === undefined ? "" : `, access token until ${safeLine(accessTokenEnds)}`;
  return [`login ${safeLine(id)}: ${state === "logged in" ? `logged in${at}${having}${until}` : "needed"}`];
}

/**
 * Toolcrib's own tools, and how many of all are in the list of a client: not every one of its own is for all.
 * A gateway of an earlier version does not count them.
 */
function ownText({
  tools = 0,
  ownTools,
  discovery,
}: Partial<Pick<GatewayStatus, "tools" | "ownTools" | "discovery">>): string {
  if (ownTools === undefined) return "";
  const [all] = discovery?.endpoints ?? [];
  const sum = tools + ownTools;
  const listed = all === undefined ? "" : `; the operator lists ${all.listed} of these ${sum}`;
  return ` and ${ownTools} of the gateway itself${listed}`;
}

/** The tasks that are kept, where there are any. A gateway of an earlier version does not know. */
function taskText({ tasks }: Partial<Pick<GatewayStatus, "tasks">>): string {
  if (tasks === undefined || tasks.running + tasks.ended === 0) return "";
  const { running, asking, ended, refused } = tasks;
  const waiting = asking === 0 ? "" : `, ${asking} of them waiting for their clients`;
  const full = refused === 0 ? "" : `; ${counted(refused, "call")} refused because all are in use`;
  return `; ${counted(running, "task")} running${waiting}, ${ended} ended${full}`;
}

/** Tokens from which on the only list, in the mode `full`, is mentioned. */
const largeListTokens = 10_000;

/** The lines about what lists cost: of profiles, of short lists, and of a long one. A gateway of an earlier version does not know. */
function listLines({ discovery }: Pick<Partial<GatewayStatus>, "discovery">): readonly string[] {
  const { endpoints = [] } = discovery ?? {};
  const [all] = endpoints;
  const isPlain = endpoints.length === 1 && all?.mode === "full" && all.tokens < largeListTokens;
  if (isPlain) return [];
  return endpoints.map(({ path, mode, listed, tools, tokens, fullTokens }) => {
    const isLong = listed === tools && mode === "full" && tokens >= largeListTokens;
    const short =
      listed === tools ? "" : `; the whole list has ${counted(tools, "tool")} and ${fullTokens} tokens`;
    const hint = isLong ? "; serve.mode: auto lists fewer" : "";
    return `list of ${safeLine(path)} (${safeLine(mode)}): ${counted(listed, "tool")}, about ${tokens} tokens${short}${hint}`;
  });
}
