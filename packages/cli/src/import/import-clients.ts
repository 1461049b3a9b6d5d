/**
 * `toolcrib import`: shows the servers of the clients on this machine, asks once, moves their secrets into the secret
 * store, and adds the servers to the configuration. It changes a client's file only with `--move`, last. The secrets
 * are stored before the configuration is replaced: a run that is killed in between leaves a valid configuration, and
 * the next one continues.
 */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { clientPrograms, sourceOfFile } from "@toolcrib/clients";
import { parseConfig, parseConfigLayer } from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { openSecretStore } from "@toolcrib/secrets";
import type { SecretStore } from "@toolcrib/store";
import { findRunningGateways } from "../access/run-file.ts";
import { reachText } from "../add/show-offer.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { unseenPlaces } from "../config/lint-arguments.ts";
import { invalidConfig } from "../config/load-cli-config.ts";
import { findClient, isInstalled } from "../connect/client-file.ts";
import { noteOtherConfiguration } from "../connect/other-configuration.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { wrapProse } from "../output/fit-styled.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { programFolders } from "../sandbox/program-folders.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type ConfigFile, openConfigFile, withEntries, writeConfigFile } from "../toolspec/config-file.ts";
import { declaredServers } from "./declared-servers.ts";
import { findServers, knownSources } from "./find-servers.ts";
import type { ImportPlan, PlannedServer } from "./import-types.ts";
import { lostPaths } from "./lost-paths.ts";
import { type Measured, measureServers } from "./measure-servers.ts";
import { type MovePlan, makeMoves, movesJson, planMoves, showMoves } from "./move-servers.ts";
import { planImport, type Target } from "./plan-import.ts";
import { importJson, problemLine, showImport, wantedSecrets } from "./show-import.ts";
import { readUnwanted, recordUnwanted, type ServerSettings, unwantedText } from "./unwanted-servers.ts";

/** Options of the command. */
export interface ImportClientsFlags {
  readonly from?: readonly string[];
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly measure?: boolean;
  readonly withDisabled?: boolean;
  readonly withRemoved?: boolean;
  readonly move?: boolean;
  /** Reasons of servers that stay in their clients although the others move, by id. @default none */
  readonly kept?: ReadonlyMap<string, string>;
  /** Whether a guide does next what is named otherwise as next, and offers nothing that was declined. @default false */
  readonly isGuided?: boolean;
}

/** Runs the command. */
export async function importClients(
  context: CliContext,
  clients: readonly string[],
  flags: ImportClientsFlags,
): Promise<ExitCode> {
  const { output } = context;
  const file = openConfigFile(context);
  const plan = await makePlan(context, file, clients, flags);
  const found = plan.servers.length + plan.leftOut.length;
  if (found === 0 && plan.problems.length === 0) {
    output.json({ ...importJson(plan, new Map()), written: undefined });
    output.print(
      "No client on this machine has a server.",
      `Add one with ${ownCommand(context)} add, or name a file: ${ownCommand(context)} import --from FILE`,
    );
    return exitCodes.done;
  }
  const measured = await measureIfAgreed(context, plan, flags);
  showImport(context, plan, measured, flags.move === true);
  const moving = flags.move === true ? await planMoves(context, plan, flags.kept) : undefined;
  if (moving !== undefined) showMoves(context, moving);
  const moves = moving?.moves ?? [];
  const outcome = "the clients lose the moved servers until a gateway serves it";
  if (moves.length > 0) noteOtherConfiguration(context, outcome, [file.path]);
  const ending = plan.problems.length === 0 ? exitCodes.done : exitCodes.failed;
  const isNothing = plan.servers.length === 0 && moves.length === 0;
  if (isNothing || flags.dryRun === true) {
    output.json({ ...importJson(plan, measured), ...moveMember(moving) });
    output.print("", isNothing ? "Nothing new to import." : "Nothing was written (--dry-run).");
    return ending;
  }
  if (!(await isAgreed(context, file, plan, moves.length, flags))) {
    output.json(importJson(plan, measured));
    return exitCodes.failed;
  }
  const { servers, stored } =
    plan.servers.length === 0 ? { servers: [], stored: [] } : await writeImport(context, file, plan);
  const written = { ...plan, servers };
  await recordUnwanted(context, file.path, settingsOf(plan), "wanted");
  if (servers.length > 0) printAdded(context, file, written, stored);
  const moved = moving !== undefined && moves.length > 0 ? await makeMoves(context, moving) : moves;
  const made = moving === undefined ? undefined : { ...moving, moves: moved };
  output.json({ ...importJson(written, measured), written: file.path, stored, ...moveMember(made) });
  printNext(context, file, written, {
    moved: moves.map(({ program }) => program.id),
    isGuided: flags.isGuided === true,
  });
  // A file with errors is repaired by its user; what it has is missing until then.
  return ending;
}

/** Reads the files and decides what becomes of each server. @throws {CliError} */
export async function makePlan(
  context: CliContext,
  file: ConfigFile,
  clients: readonly string[],
  { from = [], withDisabled = false, withRemoved = false, move, isGuided = false }: ImportClientsFlags,
): Promise<ImportPlan> {
  if (move === true && from.length > 0)
    throw new CliError(
      "CLI_USAGE",
      "--move takes servers out of the files of clients, and not of those of --from",
      {},
    );
  const target = targetOf(context, file);
  const ids = new Set(clients.map((id) => findClient(id).id));
  const sources =
    from.length > 0
      ? from.map((path) => sourceOfFile(resolve(context.directory, path), context.directory))
      : knownSources(context).filter(({ client }) => ids.size === 0 || ids.has(client));
  if (from.length > 0 && ids.size > 0)
    throw new CliError("CLI_USAGE", "Name clients, or files with --from", {});
  const found = await findServers(sources);
  const missing = from.find((path) => !isRead(resolve(context.directory, path), found));
  if (missing !== undefined) {
    throw new CliError(
      "CLI_IMPORT_FAILED",
      `Cannot import ${missing}: it does not exist, or has no servers`,
      {
        hint: "name a file in which a client lists MCP servers",
      },
    );
  }
  const { env, userDirectory } = context;
  const folder = resolve(file.path, "..");
  const all = planImport(found, target, { env, userDirectory, folder }, { withDisabled });
  const plan = await withoutUnwanted(context, file, all, { withRemoved, isGuided });
  const servers: PlannedServer[] = [];
  for (const server of plan.servers) servers.push(await withUnseen(context, file, server));
  return { ...plan, servers };
}

/** Leaves out what the user removed before and, in a guide, what the user declined; marks what stays of it. */
async function withoutUnwanted(
  context: CliContext,
  file: ConfigFile,
  plan: ImportPlan,
  { withRemoved, isGuided }: Required<Pick<ImportClientsFlags, "withRemoved" | "isGuided">>,
): Promise<ImportPlan> {
  const unwantedOf = await readUnwanted(context.options.home, file.path);
  const servers: PlannedServer[] = [];
  const leftOut = [...plan.leftOut];
  for (const server of plan.servers) {
    const unwanted = unwantedOf(settingsOfServer(server));
    if (unwanted === undefined) servers.push(server);
    else if (unwanted.reason === "removed" ? withRemoved : !isGuided) servers.push({ ...server, unwanted });
    else {
      const command = unwanted.reason === "removed" ? "--with-removed" : "toolcrib import";
      const reason = `${unwantedText(unwanted)}; ${command} imports it`;
      leftOut.push(...server.origins.map((origin) => ({ origin, reason, unwanted })));
    }
  }
  return { ...plan, servers, leftOut };
}

/** Notes what the server saw at its client and does not see contained. */
async function withUnseen(
  context: CliContext,
  file: ConfigFile,
  server: PlannedServer,
): Promise<PlannedServer> {
  const text = JSON.stringify({ tool_servers: [server.entry] });
  const [parsed] = parseConfig([{ name: file.shown, text }]).value?.toolServers ?? [];
  if (parsed === undefined) return server;
  const unseen = unseenPlaces(context, parsed, [file.path]);
  const notes = [
    ...unseen.map(({ problem, hint }) => `it ${problem}; ${hint}`),
    ...lostPaths(context, parsed, [file.path]).map((problem) => `it ${problem}`),
  ];
  return {
    ...server,
    notes: [...server.notes, ...notes],
    reach: reachText(parsed, {
      unseen,
      folders: await programFolders(context, parsed, [file.path]),
      directory: context.directory,
    }),
  };
}

function isRead(path: string, found: Awaited<ReturnType<typeof findServers>>): boolean {
  return found.files.includes(path) || found.problems.some((problem) => problem.file === path);
}

/** Returns the entries of the configuration. @throws {CliError} `CLI_CONFIG_INVALID` */
function targetOf(context: CliContext, file: ConfigFile): Target {
  const layer = parseConfigLayer({ name: file.shown, text: file.text });
  if (hasErrors(layer.diagnostics)) throw invalidConfig([file.shown], layer.diagnostics);
  return {
    ids: [...layer.serverIds, ...layer.toolspecIds, ...layer.targetIds].map(({ id }) => id),
    entries: declaredServers(layer),
    ownUrls: findRunningGateways(context.options.home).map(({ url }) => url),
  };
}

async function measureIfAgreed(
  context: CliContext,
  plan: ImportPlan,
  { measure, yes }: ImportClientsFlags,
): Promise<ReadonlyMap<string, Measured>> {
  if (measure !== true || plan.servers.length === 0) return new Map();
  const question = `Start ${counted(plan.servers.length, "server")} contained, to measure their tools? [y/N] `;
  const isAllowed = yes === true || (canAsk(context) && /^y(?:es)?$/i.test(await askLine(question, context)));
  if (isAllowed) return await measureServers(context, plan.servers);
  context.output.note("Nothing was started: confirm with --yes");
  return new Map();
}

async function isAgreed(
  context: CliContext,
  file: ConfigFile,
  plan: ImportPlan,
  moves: number,
  { yes }: ImportClientsFlags,
): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk(context)) {
    context.output.note("Nothing was written: confirm with --yes");
    return false;
  }
  const secrets = foundSecrets(plan).length;
  const stored = secrets === 0 ? "" : `, with ${counted(secrets, "secret")} in the secret store`;
  const added =
    plan.servers.length === 0
      ? []
      : [`add ${counted(plan.servers.length, "server")} to ${file.shown}${stored}`];
  const moved = moves === 0 ? [] : [`change the files of ${counted(moves, "client")} as shown`];
  const question = [...added, ...moved].join(", and ").replace(/^./, (first) => first.toUpperCase());
  const lines = wrapProse(`${question}? [y/N]`, Math.min(context.stderr.columns || 80, 200) - 1);
  const answer = await askLine(`\n${lines.join("\n")} `, context);
  if (/^y(?:es)?$/i.test(answer)) return true;
  context.output.note("Nothing was written.");
  await declineImport(context, file, plan);
  return false;
}

/** Remembers that the user does not want the servers of a plan. */
export async function declineImport(context: CliContext, file: ConfigFile, plan: ImportPlan): Promise<void> {
  await recordUnwanted(context, file.path, settingsOf(plan), "declined");
}

function settingsOf({ servers }: ImportPlan): readonly ServerSettings[] {
  return servers.map(settingsOfServer);
}

function settingsOfServer({ entry, secrets }: PlannedServer): ServerSettings {
  return { transport: entry["transport"] as JsonObject, secrets };
}

/**
 * Stores the secrets, then replaces the configuration. A secret is stored only as long as the configuration refers to it.
 *
 * @returns the servers and the stored secrets with the names that they got
 * @throws {CliError}
 */
async function writeImport(
  context: CliContext,
  file: ConfigFile,
  plan: ImportPlan,
): Promise<{ readonly servers: readonly PlannedServer[]; readonly stored: readonly string[] }> {
  const { options } = context;
  await using store = await openSecretStore(
    { home: options.home, env: context.env },
    { now: context.now, randomBytes },
  );
  const named: PlannedServer[] = [];
  const taken = new Set<string>();
  for (const server of plan.servers) named.push(await withFreeNames(store, server, taken));
  const { text } = await withEntries(
    context,
    file,
    "tool_servers",
    named.map(({ entry }) => entry),
  );
  const stored: string[] = [];
  const created: string[] = [];
  try {
    for (const { name, value } of named.flatMap(({ secrets }) => secrets)) {
      if (value === undefined) continue;
      stored.push(name);
      if ((await store.get(name)) === value) continue;
      await store.set(name, value);
      created.push(name);
    }
    await writeConfigFile(file, text);
  } catch (error) {
    for (const name of created) await store.delete(name);
    throw error;
  }
  return { servers: named, stored };
}

/** Renames secrets whose names the store has for other values. */
async function withFreeNames(
  store: SecretStore,
  server: PlannedServer,
  taken: Set<string>,
): Promise<PlannedServer> {
  const names = new Map<string, string>();
  for (const { name, value } of server.secrets) {
    let free = name;
    for (let count = 2; taken.has(free) || !(await isUsable(store, free, value)); count += 1)
      free = `${name}-${count}`;
    taken.add(free);
    names.set(name, free);
  }
  const secrets = server.secrets.map((secret) => ({
    ...secret,
    name: names.get(secret.name) ?? secret.name,
  }));
  return { ...server, secrets, entry: renamed(server.entry, names) as JsonObject };
}

/** A file of a project must not get a secret of somebody else by its name: without a value, only a free name is usable. */
async function isUsable(store: SecretStore, name: string, value: string | undefined): Promise<boolean> {
  const present = await store.get(name);
  return present === undefined || present === value;
}

function renamed(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, member]) => [
      key,
      key === "secret_key_ref" && typeof member === "string"
        ? (names.get(member) ?? member)
        : renamed(member ?? null, names),
    ]),
  );
}

function foundSecrets({ servers }: ImportPlan) {
  return servers.flatMap(({ secrets }) => secrets.filter(({ value }) => value !== undefined));
}

function moveMember(moving: MovePlan | undefined): { readonly moved?: JsonValue } {
  return moving === undefined ? {} : { moved: movesJson(moving) };
}

function printAdded(
  context: CliContext,
  file: ConfigFile,
  plan: ImportPlan,
  stored: readonly string[],
): void {
  const { output } = context;
  const moved = stored.length === 0 ? "" : `, and stored ${counted(stored.length, "secret")}`;
  output.print(
    "",
    `${output.style("green", "✓")} added ${counted(plan.servers.length, "server")} to ${file.shown}${moved}`,
  );
  for (const { name } of wantedSecrets(plan))
    output.print(`  store ${name}: ${ownCommand(context)} secret set ${shellQuote(name)}`);
}

interface Next {
  /** The clients that got the gateway. */
  readonly moved: readonly string[];
  readonly isGuided: boolean;
}

function printNext(context: CliContext, file: ConfigFile, plan: ImportPlan, { moved, isGuided }: Next): void {
  const { output } = context;
  const command = ownCommand(context);
  if (plan.problems.length > 0) {
    output.note("");
    for (const problem of plan.problems) noteWrapped(context, problemLine(problem, context));
  }
  const back = `Take it back with ${command} disconnect ${moved.join(" ")}.`;
  if (isGuided) {
    if (moved.length > 0) output.prose("", back);
    return;
  }
  const isServed = findRunningGateways(context.options.home).some(({ configFiles }) =>
    configFiles.includes(file.path),
  );
  const clients =
    moved.length === 0 ? "Clients still start these servers themselves. Next:" : `${back} Next:`;
  const hasClient = clientPrograms.some((program) => isInstalled(program, context));
  const listing = [`  ${command} connect         list the clients that this gateway can be written into`];
  const connecting = [
    `  ${command} connect --all   write the gateway into the clients; then switch off there what it serves now`,
    `  ${command} import --move   or both at once: take these servers out of the clients, for the gateway`,
  ];
  output.prose(
    "",
    ...(isServed && plan.servers.length > 0 ? ["The running gateway starts these servers now."] : []),
    clients,
    ...(isServed ? [] : [`  ${command} serve           start the gateway`]),
    ...(moved.length > 0 ? [] : hasClient ? connecting : listing),
    `  ${command} approve         look at the tools of the new servers, and allow them`,
  );
}
