/**
 * Adds an offered server: tries it contained, shows everything about it, asks once, and only then writes its entry
 * and pins the definitions that were shown. Without a terminal and without --yes it shows, and changes nothing.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import { isCredentialVariable } from "@toolcrib/redaction";
import { printCallApprovals, toolsWithCallApproval } from "../approve/call-approvals.ts";
import { printDefinition } from "../approve/print-definition.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { unseenPlaces } from "../config/lint-arguments.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { findFetched } from "../sandbox/fetched-store.ts";
import { programFolders } from "../sandbox/program-folders.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { openConfigFor } from "../server-import/add-server.ts";
import { shownEntry } from "../server-import/shown-entry.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import { type ConfigFile, configFilesOf, withEntry, writeConfigFile } from "../toolspec/config-file.ts";
import { configurationLines } from "../toolspec/entry-text.ts";
import { askAboutPaths, wantedPaths, withReadPaths } from "./agreed-paths.ts";
import { approveShown } from "./approve-shown.ts";
import { gatewayLines } from "./gateway-lines.ts";
import { requireSecrets, withoutSecrets } from "./missing-secrets.ts";
import type { Offer, OfferFact } from "./offer.ts";
import { samePackageFacts } from "./same-package.ts";
import {
  containmentFacts,
  integrityFacts,
  jsonDefinitions,
  printDefinitions,
  printedSuspicious,
  printFacts,
  suspiciousOf,
  unseenFacts,
} from "./show-offer.ts";
import {
  type FailedTrial,
  needsLogin,
  type PassedTrial,
  tryServer,
  uncountedOf,
  wantedVariables,
} from "./trial.ts";
import { withoutUnsaved } from "./unsaved-packages.ts";
import { explainUrlFailure, type UrlFailure } from "./url-failure.ts";
import { publisherOfWheel } from "./wheel-publisher.ts";

/** Adds `offer`. With --dry-run, it is tried in a temporary home, unless it needs secrets or files of the home. */
export async function addOffer(context: CliContext, offer: Offer, flags: AddFlags): Promise<ExitCode> {
  const { packages = [] } = offer;
  const addHere = (isDry: boolean) =>
    withoutUnsaved(context, { packages, isDry }, () => addIn(context, context.options.home, offer, flags));
  if (flags.dryRun !== true) return await addHere(false);
  const needsHome = offer.secrets.length > 0 || offer.prepare !== undefined;
  const home = needsHome ? context.options.home : await mkdtemp(join(tmpdir(), "toolcrib-dry-"));
  try {
    return await (needsHome ? addHere(true) : addIn(context, home, offer, flags));
  } finally {
    await offer.discard?.();
    if (!needsHome) await rm(home, { recursive: true, force: true });
  }
}

/** @param home where the server is tried */
async function addIn(context: CliContext, home: string, offer: Offer, flags: AddFlags): Promise<ExitCode> {
  const { output } = context;
  const inHome: CliContext = { ...context, options: { ...context.options, home } };
  const isElsewhere = home !== context.options.home;
  const { id, title, entries, registry, packages = [] } = offer;
  const file = openConfigFor(context, id);
  // Check that the entry can be written before anything is fetched.
  const { config } = await withEntry(context, file, "tool_servers", entries[0] as JsonObject);
  output.print(output.style("bold", safeLine(title)), "");
  printFacts(output, offer.facts);
  printFacts(output, samePackageFacts(config, id, registry && { kind: registry, names: packages }));
  for (const { name, purpose } of offer.secrets) printFacts(output, [["secret", `${name} (${purpose})`]]);
  output.print("");
  const missing = await requireSecrets(context, offer.secrets, flags);
  if (missing.size > 0)
    printFacts(output, [["not stored", `${[...missing].join(", ")}: it is tried without`]]);
  await offer.prepare?.();
  // Where it is tried in another home, its sandbox hides the usual one, too.
  const hiddenPaths = [
    ...configFilesOf(context, file, config),
    ...(isElsewhere ? [context.options.home] : []),
  ];
  const declared = config.toolServers.find((one) => one.id === id) as ToolServerConfig;
  const agreed = await askAboutPaths(context, declared, hiddenPaths, flags);
  const offered = { ...offer, entries: entries.map((one) => withReadPaths(one, agreed)) };
  const { entry, trial } = await tryEntries(inHome, offered, { file, missing, hiddenPaths });
  if (trial.kind === "failed")
    return await withoutTrial(context, { offer, entry, trial, file, flags, hiddenPaths });
  await using passed = trial;
  const fetched = offer.packages === undefined ? undefined : await findFetched(inHome, offer.packages);
  const publisher = fetched?.receipt.kind === "python" ? await publisherOfWheel(inHome, fetched) : [];
  const facts = [
    ...publisher,
    ...integrityFacts(fetched),
    ...containmentFacts(passed.server, passed.contacted.status, {
      unseen: unseenPlaces(context, passed.server, hiddenPaths),
      folders: await programFolders(context, passed.server, hiddenPaths),
      directory: context.directory,
    }),
  ];
  printFacts(output, facts);
  printIdentity(context, passed);
  const asked = wantedVariables(passed.log, passed.server);
  if (asked.length > 0)
    printFacts(output, [["wanted", `it printed the names of these variables: ${asked.join(", ")}`]]);
  const uncounted = uncountedOf(passed.contacted, id);
  printDefinitions(output, passed.definitions, uncounted);
  output.print("");
  const shown = {
    ...jsonOf(offer, [...offer.facts, ...facts], file),
    wanted: asked,
    wantedPaths: wantedPaths(context, passed.server, hiddenPaths),
    definitions: jsonDefinitions(passed.definitions),
    tokens: tokensOf(passed),
    uncounted,
  };
  const answer = await decide(context, passed, file, flags);
  if (answer !== "add" && answer !== "add all") return notAdded(context, answer, { entry, file, shown });
  await write(context, id, entry);
  const approved = await approve(passed, id, flags, answer === "add all");
  const callsNeedApproval = toolsWithCallApproval(id, approved, passed.contacted.gateway.policySituation());
  output.json({ ...shown, result: "added", approved, callsNeedApproval });
  return reportAdded(context, {
    id,
    file,
    approved: approved.length,
    callsNeedApproval,
    missing: [...missing],
    waiting: waitingOf(passed).length + uncounted - approved.length,
  });
}

/** Tries the entries in order, until one passes or the server answers that it wants a login. */
async function tryEntries(
  context: CliContext,
  { id, entries, registry, packages = [] }: Offer,
  {
    file,
    missing,
    hiddenPaths,
  }: {
    readonly file: ConfigFile;
    readonly missing: ReadonlySet<string>;
    readonly hiddenPaths: readonly string[];
  },
): Promise<{ readonly entry: JsonObject; readonly trial: PassedTrial | FailedTrial }> {
  const verb = { npm: "Fetching", python: "Fetching", go: "Building" };
  const what =
    registry === undefined ? "" : `${verb[registry]} ${packages.map(safeLine).join(", ")} in a sandbox, and `;
  const isProcess = entries.every((one) => (one["transport"] as JsonObject)["kind"] === "stdio");
  noteWrapped(
    context,
    // A server at a URL runs elsewhere: nothing is started or contained here.
    isProcess
      ? `${what === "" ? "Starting" : `${what}starting`} it once, contained…`
      : "Connecting to it once, to list what it offers…",
  );
  let last: { readonly entry: JsonObject; readonly trial: FailedTrial } | undefined;
  for (const entry of entries) {
    const { config } = await withEntry(context, file, "tool_servers", withoutSecrets(entry, missing));
    const trial = await tryServer(context, { config, files: hiddenPaths }, id);
    if (trial.kind === "passed") return { entry, trial };
    last ??= { entry, trial };
    if (needsLogin(trial)) return { entry, trial };
  }
  return last as { readonly entry: JsonObject; readonly trial: FailedTrial };
}

/** A server whose trial did not list tools. */
interface Untried {
  readonly offer: Offer;
  readonly entry: JsonObject;
  readonly trial: FailedTrial;
  readonly file: ConfigFile;
  readonly flags: AddFlags;
  /** The configuration and its policy files. */
  readonly hiddenPaths: readonly string[];
}

/** Saves a server that needs a login first, or one that the operator wants untested. @throws {CliError} for all others */
async function withoutTrial(
  context: CliContext,
  { offer, entry, trial, file, flags, hiddenPaths }: Untried,
): Promise<ExitCode> {
  const { output } = context;
  const isLogin = needsLogin(trial);
  const unseen = unseenPlaces(context, trial.server, hiddenPaths);
  const wanted = wantedVariables(trial.log, trial.server);
  if (!isLogin && flags.untested === undefined) {
    printFacts(output, unseenFacts(unseen));
    throw failed(context, trial, { wanted, isPackage: offer.registry !== undefined });
  }
  const transport = entry["transport"] as JsonObject;
  const saved = isLogin ? { ...entry, transport: { ...transport, auth: { type: "oauth" } } } : entry;
  const folders = await programFolders(context, trial.server, hiddenPaths);
  const facts = containmentFacts(trial.server, undefined, { unseen, folders, directory: context.directory });
  printFacts(output, facts);
  printFacts(output, [
    isLogin
      ? ["login", "it uses OAuth: its tools are known after a login"]
      : ["UNTESTED", `${trial.reason} (saved because: ${flags.untested})`],
  ]);
  output.print("");
  const shown = {
    ...jsonOf(offer, [...offer.facts, ...facts], file),
    wanted,
    wantedPaths: wantedPaths(context, trial.server, hiddenPaths),
    definitions: [],
    tokens: 0,
  };
  const answer = await decideUnknown(context, file, flags);
  if (answer !== "add") return notAdded(context, answer, { entry: saved, file, shown });
  await write(context, offer.id, saved);
  output.json({ ...shown, result: "added", login: isLogin, untested: flags.untested ?? null, approved: [] });
  const command = ownCommand(context);
  const id = shellQuote(offer.id);
  output.prose(
    `${output.style("green", "✓")} added ${safeLine(offer.id)} to ${file.shown}`,
    ...(isLogin ? [`${output.style("yellow", "!")} log in: ${command} login ${id}`] : []),
    `${output.style("yellow", "!")} approve its tools when it lists them: ${command} approve ${id}`,
    ...gatewayLines(context, file),
  );
  return exitCodes.done;
}

function failed(
  context: CliContext,
  { error, reason, failure, log, server }: FailedTrial,
  { wanted, isPackage }: { readonly wanted: readonly string[]; readonly isPackage: boolean },
): CliError {
  const { output } = context;
  if (log.length > 0) {
    output.note(
      "The last lines that it printed:",
      ...log.slice(-12).map((line) => `  ${safeLine(line).slice(0, 300)}`),
      "",
    );
  }
  const explained = urlFailureOf(server, failure);
  if (explained !== undefined) {
    const { problem, fix } = explained;
    throw new CliError("CLI_SERVER_NOT_READY", `Nothing was added: ${problem}`, {
      cause: error,
      hint: `${fix}; it is saved anyway with --untested REASON`,
      data: { reason, wanted },
    });
  }
  const [first] = wanted;
  const secret = first !== undefined && isCredentialVariable(first);
  const hints = [
    ...(first === undefined
      ? []
      : [
          `it names ${wanted.join(", ")}: ${secret ? `store the value with ${ownCommand(context)} secret set NAME, and add --secret ${first}=NAME` : `add --env ${first}=VALUE`}`,
        ]),
    ...(server.transport.kind === "stdio"
      ? [
          `what it may do is given with --allow HOST, --read PATH and --write FOLDER; its arguments with --server-arg${isPackage ? "; where this version crashes by itself, name an older one (NAME@VERSION)" : ""}`,
        ]
      : failure?.status === 401 || failure?.status === 403
        ? ["a stored secret is sent with --secret HEADER=NAME"]
        : []),
    "it is saved anyway with --untested REASON",
  ];
  return new CliError("CLI_SERVER_NOT_READY", `${error.message}; nothing was added`, {
    cause: error,
    hint: hints.join("; "),
    data: { reason, wanted },
  });
}

function urlFailureOf(
  { transport }: FailedTrial["server"],
  failure: FailedTrial["failure"],
): UrlFailure | undefined {
  if (transport.kind === "stdio" || failure === undefined) return undefined;
  const text = transport.url.kind === "literal" ? transport.url.text : "";
  const hasHeaders = Object.keys(transport.headers).length > 0;
  return URL.canParse(text) ? explainUrlFailure(new URL(text), failure, hasHeaders) : undefined;
}

/** `add all`: every text was shown before. */
type Answer = "add" | "add all" | "dry" | "declined" | "unasked";

/** Asks once, where it can. */
async function decide(
  context: CliContext,
  passed: PassedTrial,
  file: ConfigFile,
  flags: AddFlags,
): Promise<Answer> {
  if (flags.dryRun === true) return "dry";
  if (flags.yes === true) return "add";
  if (!canAsk(context)) return "unasked";
  const waiting = waitingOf(passed);
  const suspicious = suspiciousOf(passed.definitions).length;
  const mark = suspicious === 0 ? "" : ` (${suspicious} SUSPICIOUS)`;
  const what = waiting.length === 0 ? "" : `, and approve ${counted(waiting.length, "definition")}${mark}`;
  let hasShownAll = false;
  for (;;) {
    const text = `Add it to ${file.shown}${what}? [y]es, [s]how all texts, [N]o: `;
    const answer = (await askLine(text, context)).toLowerCase();
    if (answer === "s" || answer === "show") {
      for (const one of waiting) printDefinition(context.output, one);
      hasShownAll = true;
      continue;
    }
    if (answer !== "y" && answer !== "yes") return "declined";
    return hasShownAll ? "add all" : "add";
  }
}

async function decideUnknown(
  context: CliContext,
  file: ConfigFile,
  flags: AddFlags,
): Promise<Exclude<Answer, "add all">> {
  if (flags.dryRun === true) return "dry";
  if (flags.yes === true) return "add";
  if (!canAsk(context)) return "unasked";
  return /^y(?:es)?$/i.test(await askLine(`Add it to ${file.shown}? [y/N] `, context)) ? "add" : "declined";
}

function notAdded(
  context: CliContext,
  answer: Exclude<Answer, "add" | "add all">,
  { entry, file, shown }: { readonly entry: JsonObject; readonly file: ConfigFile; readonly shown: object },
): ExitCode {
  const { output } = context;
  const preview = shownEntry(entry);
  output.json({ ...shown, entry: preview, result: "shown" });
  if (answer === "dry") {
    output.print(
      `Would add to ${file.shown}:`,
      "",
      ...configurationLines("tool_servers", preview).map(safeYaml),
    );
    return exitCodes.done;
  }
  noteWrapped(
    context,
    answer === "declined"
      ? "Nothing was added"
      : "Nothing was added: there is no terminal to ask on; to add it, repeat the command with --yes",
  );
  return exitCodes.failed;
}

/** Keeps the indentation of a line of YAML. */
function safeYaml(line: string): string {
  return `${/^ */.exec(line)?.[0] ?? ""}${safeLine(line)}`;
}

/** Writes the entry to what the file has by now: it can be edited while the trial runs. */
async function write(context: CliContext, id: string, entry: JsonObject): Promise<void> {
  const current = openConfigFor(context, id);
  const { text } = await withEntry(context, current, "tool_servers", entry);
  await writeConfigFile(current, text);
}

/** Pins what was shown. With --yes nobody read it, so that suspicious definitions wait; otherwise, those that were not printed. */
async function approve(
  passed: PassedTrial,
  id: string,
  { yes }: AddFlags,
  hasShownAll: boolean,
): Promise<readonly string[]> {
  const suspicious = suspiciousOf(passed.definitions);
  const printed = hasShownAll ? suspicious : printedSuspicious(passed.definitions);
  const left = new Set(yes === true ? suspicious : suspicious.filter((one) => !printed.includes(one)));
  return await approveShown(passed, id, (one) => left.has(one));
}

function waitingOf({ definitions }: PassedTrial) {
  return definitions.flatMap(({ waiting }) => (waiting === undefined ? [] : [waiting]));
}

function tokensOf({ definitions }: PassedTrial): number {
  return definitions.reduce((sum, { kind, tokens }) => (kind === "tool" ? sum + tokens : sum), 0);
}

function jsonOf({ id, title, secrets }: Offer, facts: readonly OfferFact[], file: ConfigFile): object {
  return { id, title, file: file.path, facts: facts.map(([label, text]) => ({ label, text })), secrets };
}

/** Says what servers for an address answered about themselves. */
function printIdentity({ output }: CliContext, { contacted }: PassedTrial): void {
  const { serverInfo, protocolVersion } = contacted.status;
  const name = [serverInfo?.["name"], serverInfo?.["version"]]
    .filter((one) => typeof one === "string")
    .join(" ");
  if (name !== "")
    printFacts(output, [["says it is", `${name}, MCP ${protocolVersion ?? "of an unknown revision"}`]]);
}

function reportAdded(
  context: CliContext,
  {
    id,
    file,
    approved,
    callsNeedApproval,
    missing,
    waiting,
  }: {
    readonly id: string;
    readonly file: ConfigFile;
    readonly approved: number;
    /** Names of the approved tools whose calls need approvals of their own. */
    readonly callsNeedApproval: readonly string[];
    /** Names of secrets. */
    readonly missing: readonly string[];
    readonly waiting: number;
  },
): ExitCode {
  const { output, options } = context;
  const command = ownCommand(context);
  const check = output.style("green", "✓");
  output.prose(`${check} added ${safeLine(id)} to ${file.shown}`);
  if (approved > 0) output.print(`${check} approved ${counted(approved, "definition")}`);
  printCallApprovals(context, id, callsNeedApproval, approved);
  for (const name of missing)
    output.prose(
      `${output.style("yellow", "!")} store its secret: ${command} secret set ${shellQuote(name)}`,
    );
  if (waiting > 0) {
    output.prose(
      `${output.style("yellow", "!")} ${counted(waiting, "definition")} ${waiting === 1 ? "waits" : "wait"} for you: ${command} approve ${shellQuote(id)}`,
    );
  }
  output.prose(...gatewayLines(context, file));
  const configFlag = options.configFiles.map((path) => ` --config ${shellQuote(path)}`).join("");
  output.print("", output.style("bold", "Try"), `  ${command} list --server ${shellQuote(id)}${configFlag}`);
  return exitCodes.done;
}
