/**
 * `toolcrib remove`: takes entries out of the configuration files that contain them. It shows the lines, asks, and
 * writes a file only where the configuration without them is valid. All other bytes of the files stay.
 */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type GatewayConfig, parseConfigLayer, removeEntry } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { openSecretStore } from "@toolcrib/secrets";
import { gatewayLines } from "../add/gateway-lines.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findConfigFiles, shortPath } from "../config/find-config-files.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type DeclaredServer, declaredServers } from "../import/declared-servers.ts";
import { secretNamesIn } from "../import/plan-import.ts";
import { recordUnwanted, type ServerSettings } from "../import/unwanted-servers.ts";
import { safeLine, safeText } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { writeUserFile } from "../write-user-file.ts";
import { type FoundEntry, findEntries, positionOf } from "./find-entries.ts";
import { keptPackagesOf, type LeftOver, leftOverOf } from "./left-over.ts";
import { loadOtherConfigs } from "./other-configs.ts";

/** Options of the command. */
export interface RemoveFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly purge?: boolean;
}

/** A file without its entries. */
interface ChangedFile {
  readonly path: string;
  readonly before: string;
  readonly text: string;
  readonly removed: readonly string[];
}

/** Runs the command. */
export async function removeEntries(
  context: CliContext,
  ids: readonly string[],
  { yes = false, dryRun = false, purge = false }: RemoveFlags,
): Promise<ExitCode> {
  const { output } = context;
  const label = (text: string) => output.style("yellow", text);
  const files = findConfigFiles(context);
  const found = await findEntries(context, ids, files);
  const changes = changesOf(context, found);
  const textOf = textsOf(context, changes);
  const after = (await loadCliConfig(context, {}, { textOf })).config;
  // The entry can be what is wrong with the configuration: then it is not known what else it used.
  const before = await loadCliConfig(context).then(
    ({ config }) => config,
    (error: unknown) => {
      if (isCodedError(error) && error.code === "CLI_CONFIG_INVALID") return after;
      throw error;
    },
  );
  const all = await leftOverOf(context, before, [after], ids);
  const others = all.length === 0 || !purge ? [] : await loadOtherConfigs(context, files, textOf);
  const left = others.length === 0 ? all : await leftOverOf(context, before, [after, ...others], ids);
  const isLeft = ({ kind, name }: LeftOver) => left.some((one) => one.kind === kind && one.name === name);
  const shared = all.filter((one) => !isLeft(one));
  const kept = await keptPackagesOf(context, before, after, ids);
  const uses = [
    ...usesOf(before, ids),
    ...kept.map(({ name, usedBy }) => `fetched package ${name}: ${usedByText(usedBy)}`),
    ...new Set(shared.map(({ kind, name }) => `${kind} ${name}: another configuration of the home uses it`)),
  ];
  for (const { path, removed } of changes) {
    output.print(output.style("bold", shortPath(path, context.directory)));
    for (const line of removed.flatMap((one) => one.trimEnd().split(/\r?\n/)))
      output.print(output.style("red", `- ${safeText(line)}`));
  }
  for (const use of uses) output.prose(`${label("stays")} ${safeLine(use)}`);
  if (!purge) for (const [shown] of shownOf(left)) output.prose(`${label("not used any more")} ${shown}`);
  else if (dryRun || !yes)
    for (const [shown] of shownOf(left))
      output.prose(`${label(dryRun ? "would remove" : "to remove")} ${shown}`);
  // Where the entry stays for now: --purge finds nothing to delete once it is gone.
  if (left.length > 0 && !purge)
    output.prose(
      `What is not used any more is kept${yes && !dryRun ? "" : "; remove --purge deletes it with the entry"}`,
    );
  const isWritten = !dryRun && (yes || (await isConfirmed(context, purge)));
  output.json({
    removed: found.map(({ id, path, section }) => ({ id, file: path, section })),
    leftOver: left.map(({ kind, name }) => ({ kind, name })),
    keptPackages: kept,
    purged: purge && isWritten,
    dryRun,
    written: isWritten,
  });
  if (!isWritten) {
    output.print(dryRun ? "Nothing was changed (--dry-run)" : "Nothing was changed");
    return dryRun ? exitCodes.done : exitCodes.failed;
  }
  await write(context, changes);
  await recordRemoved(context, changes, found);
  output.prose(`Removed ${quoted(found.map(({ id }) => id))}`);
  if (purge)
    for (const [shown, same] of shownOf(left)) {
      for (const one of same) await one.remove();
      output.prose(`${label("also removed")} ${shown}`);
    }
  output.prose(...new Set(changes.flatMap((file) => gatewayLines(context, file))));
  if (!purge) printKept(context, left);
  return exitCodes.done;
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${safeLine(id)}"`).join(", ");
}

/** Returns things by their texts: a package that was fetched several times and the definitions of a server have one. */
function shownOf(left: readonly LeftOver[]): ReadonlyMap<string, readonly LeftOver[]> {
  const groups = Map.groupBy(left, ({ kind, name }) => `${kind} ${safeLine(name)}`).entries();
  return new Map(
    groups.map(([text, same]) => {
      const isRepeated = same.length > 1 && same[0]?.kind === "fetched package";
      return [`${text}${isRepeated ? ` (fetched ${same.length} times)` : ""}`, same];
    }),
  );
}

function usedByText(ids: readonly string[]): string {
  return `${quoted(ids)} ${ids.length === 1 ? "uses" : "use"} it`;
}

/** Prints the commands that remove what is kept: `--purge` finds nothing any more. */
function printKept(context: CliContext, left: readonly LeftOver[]): void {
  const { output } = context;
  const commands = left.flatMap(({ command }) => (command === undefined ? [] : [command]));
  if (commands.length === 0) return;
  output.print(
    "Kept, and used by no entry; remove with:",
    ...commands.map((words) => `  ${ownCommand(context)} ${words.map(shellQuote).join(" ")}`),
  );
}

/** Remembers the servers, which clients can still have: an import does not bring them back unasked. */
async function recordRemoved(
  context: CliContext,
  changes: readonly ChangedFile[],
  found: readonly FoundEntry[],
): Promise<void> {
  for (const { path, before } of changes) {
    const ids = found.flatMap((one) => (one.path === path && one.section === "tool_servers" ? [one.id] : []));
    const removed = declaredServers(parseConfigLayer({ name: path, text: before })).filter(({ id }) =>
      ids.includes(id),
    );
    const servers = await withSecrets(context, removed);
    await recordUnwanted(context, path, servers, "removed");
  }
}

/** Adds the values of the stored secrets; those of a store that cannot be read stay unknown. */
async function withSecrets(
  context: CliContext,
  servers: readonly DeclaredServer[],
): Promise<readonly ServerSettings[]> {
  const names = new Set(servers.flatMap(({ transport }) => secretNamesIn(transport)));
  if (names.size === 0) return servers.map(({ transport }) => ({ transport, secrets: [] }));
  const values = new Map<string, string | undefined>();
  try {
    await using store = await openSecretStore(
      { home: context.options.home, env: context.env },
      { now: context.now, randomBytes },
    );
    for (const name of names) values.set(name, await store.get(name));
  } catch (error) {
    if (!isCodedError(error)) throw error;
  }
  const secrets = [...values].map(([name, value]) => ({ name, value }));
  return servers.map(({ transport }) => ({ transport, secrets }));
}

/** Returns the files without the entries. @throws {CliError} `CLI_CONFIG_NOT_EDITABLE` */
function changesOf(context: CliContext, found: readonly FoundEntry[]): readonly ChangedFile[] {
  return [...Map.groupBy(found, ({ path }) => path)].map(([path, entries]) => {
    const before = readFileSync(path, "utf8");
    let text = before;
    const removed = entries.map(({ id, section }) => {
      const { tree } = parseConfigLayer({ name: path, text });
      const cut = removeEntry(text, section, positionOf(tree, section, id));
      const shown = shortPath(path, context.directory);
      if (cut === undefined || !isWithout(text, cut.text, id)) {
        throw new CliError(
          "CLI_CONFIG_NOT_EDITABLE",
          `Nothing was removed: the notation of "${id}" in ${shown} cannot be edited automatically`,
          { hint: `remove it in an editor, or hide it: toolcrib disable server ${id}` },
        );
      }
      text = cut.text;
      return cut.removed;
    });
    return { path, before, text, removed };
  });
}

/** Whether the ids of `after` are those of `before` without `id`. */
function isWithout(before: string, after: string, id: string): boolean {
  const idsIn = (text: string) => {
    const { serverIds, toolspecIds } = parseConfigLayer({ name: "", text });
    return [...serverIds, ...toolspecIds].map((one) => one.id);
  };
  const expected = idsIn(before);
  expected.splice(expected.indexOf(id), 1);
  return JSON.stringify(idsIn(after)) === JSON.stringify(expected);
}

/** Returns what reads the changed files before they are written. */
function textsOf(context: CliContext, changes: readonly ChangedFile[]) {
  const texts = new Map(changes.map(({ path, text }) => [path, text]));
  return (path: string): string | undefined => texts.get(resolve(context.directory, path));
}

async function isConfirmed(context: CliContext, purge: boolean): Promise<boolean> {
  if (!canAsk(context)) {
    throw new CliError("CLI_USAGE", "Nothing was removed: without a terminal, the command cannot ask", {
      hint: "add --yes, or --dry-run to see what would be removed",
    });
  }
  const answer = await askLine(`Remove ${purge ? "all of this" : "these lines"}? [y/N] `, context);
  return /^y(es)?$/i.test(answer);
}

/** Writes the files, unless one was changed while the command asked. @throws {CliError} `CLI_FILE_UNUSABLE` */
async function write(context: CliContext, changes: readonly ChangedFile[]): Promise<void> {
  for (const { path, before } of changes) {
    if (readFileSync(path, "utf8") === before) continue;
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Nothing was removed: ${shortPath(path, context.directory)} was changed in the meantime`,
      { hint: "run the command again" },
    );
  }
  for (const { path, text } of changes) await writeUserFile(path, text);
}

/** Returns the settings that still name the entries and stay in the configuration. */
function usesOf(
  { policy, profiles, toolOverrides }: GatewayConfig,
  ids: readonly string[],
): readonly string[] {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["policy.allow", policy.allow ?? []],
    ["policy.deny", policy.deny],
    ["policy.waive_approval", policy.waiveApproval],
    ...Object.entries(policy.clients).flatMap(([name, { allow, deny }]) => [
      [`policy.clients.${name}.allow`, allow ?? []] as const,
      [`policy.clients.${name}.deny`, deny] as const,
    ]),
    ...Object.keys(profiles).flatMap((name) => {
      const { servers = [], tools = [] } = policy.profiles?.[name] ?? {};
      return [[`profiles.${name}.servers`, servers] as const, [`profiles.${name}.tools`, tools] as const];
    }),
    ["tools", toolOverrides.map(({ pattern }) => pattern)],
  ];
  const names = (pattern: string) =>
    ids.some((id) => pattern === id || pattern.startsWith(`${id}:`) || pattern.startsWith(`${id}__`));
  return lists.flatMap(([path, patterns]) => patterns.filter(names).map((one) => `${path}: "${one}"`));
}
