/**
 * `toolcrib update` of servers that are pinned to a version: looks the newest one up, fetches it beside the old,
 * starts both contained once, shows what differs, asks, and only then writes the new version into the configuration.
 * Whatever fails leaves the old version, its package and its approvals as they are.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { printDefinition } from "../approve/print-definition.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { findFetched } from "../sandbox/fetched-store.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { asTyped } from "../serve/source-table.ts";
import { readEntry } from "../toolspec/catalog.ts";
import {
  type ConfigFile,
  checkConfigText,
  configFilesOf,
  openConfigFile,
  writeConfigFile,
} from "../toolspec/config-file.ts";
import { approveShown } from "./approve-shown.ts";
import {
  compareDefinitions,
  compareReach,
  type DefinitionChanges,
  type TriedVersion,
} from "./compare-trials.ts";
import { gatewayLines } from "./gateway-lines.ts";
import { commandOf } from "./offer.ts";
import type { LookUps } from "./open-look-ups.ts";
import { compareVersions, type PinnedServer, pinnedServers, withVersion } from "./pinned-servers.ts";
import { printFacts } from "./show-offer.ts";
import { type PassedTrial, type TriedDefinition, tryServer } from "./trial.ts";
import { dropUnsavedUpdate, fetchedKeys } from "./unsaved-packages.ts";

/** Options of `update`. */
export interface UpdateFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** The outcome of the update of one server. */
export interface UpdatedServer {
  readonly id: string;
  readonly from: string;
  readonly to: string | null;
  readonly result: "current" | "updated" | "shown" | "failed";
  readonly [fact: string]: unknown;
}

/** Updates `servers` one after the other. */
export async function updateServers(
  context: CliContext,
  lookUps: LookUps,
  servers: readonly PinnedServer[],
  flags: UpdateFlags,
): Promise<readonly UpdatedServer[]> {
  const { output } = context;
  const done: UpdatedServer[] = [];
  for (const server of servers) {
    const { id, version: from, packages: kept } = server;
    const { name } = server.origin;
    const fetched = { name, kept, before: await fetchedKeys(context) };
    try {
      const updated = await updateServer(context, lookUps, server, flags);
      done.push(updated);
      const comesAgain = flags.dryRun !== true && !canAsk(context);
      if (updated.result === "shown") await dropUnsavedUpdate(context, fetched, { comesAgain });
    } catch (error) {
      if (context.signal.aborted || !isCodedError(error)) throw error;
      noteWrapped(
        context,
        `${output.noteStyle(["bold", "red"], "not updated")} ${safeLine(id)} ${safeLine(from)}: ${safeLine(error.message)}`,
      );
      if (error.hint !== undefined) noteWrapped(context, `  ${safeLine(error.hint)}`);
      await dropUnsavedUpdate(context, fetched, { comesAgain: false });
      done.push({ id, from, to: null, result: "failed", code: error.code, reason: messageOf(error) });
    }
  }
  if (done.some(({ result }) => result === "updated"))
    output.prose(...gatewayLines(context, openConfigFile(context)));
  return done;
}

/** Returns the exit code of updates. */
export function exitOf(done: readonly UpdatedServer[], { dryRun }: UpdateFlags): ExitCode {
  const isDone = done.every(
    ({ result }) => result === "current" || result === "updated" || (result === "shown" && dryRun === true),
  );
  return isDone ? exitCodes.done : exitCodes.failed;
}

async function updateServer(
  context: CliContext,
  lookUps: LookUps,
  server: PinnedServer,
  flags: UpdateFlags,
): Promise<UpdatedServer> {
  const { output } = context;
  const { id, origin, version: from } = server;
  const newest = await newestOf(context, lookUps, server);
  const title = `${safeLine(id)}: ${safeLine(origin.name)} ${safeLine(from)}`;
  if (compareVersions(newest.version, from) <= 0) {
    output.prose(`${title} is the newest version`);
    return { id, from, to: from, result: "current" };
  }
  const to = newest.version;
  noteWrapped(
    context,
    `Fetching ${safeLine(origin.name)} ${safeLine(to)} in a sandbox, and starting both versions once, contained…`,
  );
  const file = openConfigFile(context);
  const text = changedText(file, server, to);
  await using tried = await tryVersion(context, {
    file,
    text,
    id,
    packages: packagesOf(server, to),
    facts: newest.facts,
  });
  await using current = await currentVersion(context, file, server, lookUps);
  output.print(`${output.style("bold", title)} → ${output.style("bold", safeLine(to))}`, "");
  const reach = compareReach(current, tried);
  printFacts(output, reach);
  const changes = compareDefinitions(current.trial?.definitions ?? [], tried.trial.definitions);
  if (current.trial === undefined)
    output.prose("", `The version ${safeLine(from)} does not start here: all definitions are shown as new.`);
  printChanges(context, changes);
  const shown = {
    id,
    from,
    to,
    reach: reach.map(([label, value]) => ({ label, text: value })),
    ...jsonChanges(changes),
  };
  const answer = await decide(context, { file, title: `${id} ${to}`, changes, flags });
  if (answer !== "yes") return { ...shown, result: "shown" };
  await writeVersion(context, server, to);
  const isShown = shownOf(current.trial, tried, changes, flags);
  const approved = await approveShown(tried.trial, id, (one) => !isShown(one));
  output.print(`${output.style("green", "✓")} ${safeLine(id)} is pinned to ${safeLine(to)} in ${file.shown}`);
  if (approved.length > 0) output.prose(`  approved: ${approvedText(approved.length, tried, flags)}`);
  const waiting = tried.trial.definitions.filter((one) => isHeld(one, tried)).map(({ name }) => name);
  const left = waiting.filter((name) => !approved.includes(name));
  if (left.length > 0)
    output.prose(
      `${output.style("yellow", "!")} ${counted(left.length, "definition")} ${left.length === 1 ? "waits" : "wait"} for you: ${namesText(left)}`,
      `  approve: ${ownCommand(context)} approve ${shellQuote(id)}`,
    );
  return { ...shown, result: "updated", approved, waiting: left };
}

/** Which definitions were approved, and why nobody was asked. */
function approvedText(count: number, { isTaken }: PassedVersion, { yes }: UpdateFlags): string {
  const what = counted(count, "definition");
  if (yes !== true) return `${what} that ${count === 1 ? "is" : "are"} new or changed`;
  const why = isTaken
    ? "the configuration accepts definitions of this server (first_contact: pin)"
    : `${count === 1 ? "it was" : "they were"} approved in the earlier version`;
  return `${what}, without asking (--yes): ${why}`;
}

/** Most names that the line about what waits lists. */
const namesMaxCount = 12;

function namesText(names: readonly string[]): string {
  const more = names.length - namesMaxCount;
  return `${names.slice(0, namesMaxCount).map(safeLine).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The newest version, and what the registry says about its publisher. */
async function newestOf(context: CliContext, lookUps: LookUps, { origin }: PinnedServer) {
  if (origin.kind !== "catalog") return await lookUps.lookUp({ kind: origin.kind, name: origin.name });
  const { manifest } = await readEntry(context, origin.name, undefined);
  return { version: manifest.version, facts: [] };
}

function packagesOf({ origin, packages }: PinnedServer, version: string): readonly string[] {
  if (origin.kind === "catalog") return [];
  const { kind, name } = origin;
  return [...commandOf({ kind, name, version }, undefined).packages, ...packages.slice(1)];
}

/** @throws {CliError} `CLI_CONFIG_NOT_EDITABLE` */
function changedText({ shown, text }: ConfigFile, server: PinnedServer, to: string): string {
  const changed = withVersion(shown, text, server, to);
  if (changed !== undefined) return changed;
  throw new CliError(
    "CLI_CONFIG_NOT_EDITABLE",
    `Cannot change the version of "${server.id}" in ${shown}: it is not written in one place`,
    {
      hint: `write ${server.origin.name} ${to} in its entry yourself`,
    },
  );
}

interface Attempt {
  readonly file: ConfigFile;
  readonly text: string;
  readonly id: string;
  readonly packages: readonly string[];
  readonly facts: TriedVersion["facts"];
}

/** A version that started. */
interface PassedVersion extends TriedVersion, AsyncDisposable {
  readonly trial: PassedTrial;
  /** Whether gateways accept its new definitions without a question (`first_contact: pin`). */
  readonly isTaken: boolean;
}

/** Tries a server as `text` configures it. @throws {CliError} `CLI_SERVER_NOT_READY`, also with the advice about its containment */
async function tryVersion(
  context: CliContext,
  { file, text, id, packages, facts }: Attempt,
): Promise<PassedVersion> {
  const config = await checkConfigText(context, file, text);
  const trial = await tryServer(context, { config, files: configFilesOf(context, file, config) }, id);
  if (trial.kind === "failed") throw trial.error;
  const fetched = packages.length === 0 ? undefined : await findFetched(context, packages);
  const isTaken = config.toolServers.find((one) => one.id === id)?.firstContact === "pin";
  return { trial, fetched, facts, isTaken, [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose]() };
}

/** Tries the pinned version; it may not start any more, which is no reason to keep it. */
async function currentVersion(
  context: CliContext,
  file: ConfigFile,
  { id, origin, version, packages }: PinnedServer,
  lookUps: LookUps,
): Promise<TriedVersion & AsyncDisposable> {
  const facts =
    origin.kind === "catalog"
      ? []
      : await lookUps.lookUp({ kind: origin.kind, name: origin.name, version }).then(
          (found) => found.facts,
          () => [],
        );
  try {
    return await tryVersion(context, { file, text: file.text, id, packages, facts });
  } catch (error) {
    if (context.signal.aborted || !isCodedError(error)) throw error;
    return { trial: undefined, fetched: undefined, facts, async [Symbol.asyncDispose]() {} };
  }
}

/** Definitions of one kind of change that are printed whole. */
const changesMaxCount = 30;

function printChanges(context: CliContext, changes: DefinitionChanges): void {
  const { output } = context;
  const { added, removed, changed } = changes;
  const tokens = (all: readonly TriedDefinition[]) => all.reduce((sum, one) => sum + one.tokens, 0);
  const more =
    tokens([...added, ...changed.map(({ after }) => after)]) -
    tokens([...removed, ...changed.map(({ before }) => before)]);
  const cost = `${more < 0 ? "−" : "+"}${Math.abs(more).toLocaleString("en")} tokens`;
  if (added.length + removed.length + changed.length === 0) {
    output.print("", "Its definitions are the same.", "");
    return;
  }
  output.print(
    "",
    `Definitions: ${added.length} added, ${removed.length} removed, ${changed.length} changed (${cost})`,
    "",
  );
  const printed = printedOf(changes);
  for (const { name } of printed.removed)
    output.print(`${output.style("bold", safeLine(name))} ${output.style("red", "removed")}`);
  if (removed.length > 0) output.print("");
  for (const { before, after } of printed.changed)
    printDefinition(output, { ...inspected(after), previous: before.definition, isChanged: true });
  for (const one of printed.added) printDefinition(output, inspected(one));
  const left = [added, removed, changed].reduce(
    (sum, { length }) => sum + Math.max(0, length - changesMaxCount),
    0,
  );
  if (left > 0)
    output.prose(
      `… and ${left} more, which --json lists; they wait for ${asTyped("toolcrib approve", context)}`,
      "",
    );
}

/** A definition for `printDefinition`; one that was accepted before has no findings. */
function inspected({
  kind,
  name,
  definition,
  waiting,
}: TriedDefinition): Parameters<typeof printDefinition>[1] {
  return (
    waiting ?? {
      server: "",
      kind: kind as "tool",
      name,
      digest: "",
      definition,
      isChanged: false,
      findings: [],
    }
  );
}

function jsonChanges({ added, removed, changed }: DefinitionChanges): object {
  const names = (all: readonly TriedDefinition[]) => all.map(({ kind, name }) => ({ kind, name }));
  return { added: names(added), removed: names(removed), changed: names(changed.map(({ after }) => after)) };
}

async function decide(
  context: CliContext,
  {
    file,
    title,
    changes,
    flags,
  }: {
    readonly file: ConfigFile;
    readonly title: string;
    readonly changes: DefinitionChanges;
    readonly flags: UpdateFlags;
  },
): Promise<"yes" | "no"> {
  if (flags.dryRun === true) return "no";
  if (flags.yes === true) return "yes";
  if (!canAsk(context)) {
    noteWrapped(
      context,
      "Nothing was changed: there is no terminal to ask on; to update it, repeat the command with --yes",
    );
    return "no";
  }
  const printed = printedOf(changes);
  const count = printed.added.length + printed.changed.length;
  const what = count === 0 ? "" : ` and approve ${counted(count, "definition")}`;
  const answer = await askLine(`Pin ${safeLine(title)} in ${file.shown}${what}? [y/N] `, context);
  return /^y(?:es)?$/i.test(answer) ? "yes" : "no";
}

/** Writes the version into what the file has by now. */
async function writeVersion(context: CliContext, server: PinnedServer, to: string): Promise<void> {
  const file = openConfigFile(context);
  const { pinned } = pinnedServers(file.shown, file.text);
  if (!pinned.some(({ id, version }) => id === server.id && version === server.version)) {
    throw new CliError(
      "CLI_CONFIG_NOT_EDITABLE",
      `${file.shown} was changed while "${server.id}" was tried`,
      {
        hint: "run the command again",
      },
    );
  }
  const text = changedText(file, server, to);
  await checkConfigText(context, file, text);
  await writeConfigFile(file, text);
}

/**
 * Returns which definitions the answer approves: those that were printed. With --yes nobody read them, so that only
 * those are approved that were accepted in the earlier version, and in which nothing is suspicious. What waited before
 * and did not change is not shown, and waits.
 */
function shownOf(
  before: PassedTrial | undefined,
  tried: PassedVersion,
  changes: DefinitionChanges,
  { yes }: UpdateFlags,
): (one: TriedDefinition) => boolean {
  const { added, changed } = yes === true ? changes : printedOf(changes);
  const shown = new Set([...added, ...changed.map(({ after }) => after)]);
  if (yes !== true) return (one) => shown.has(one);
  const keyOf = ({ kind, name }: TriedDefinition) => JSON.stringify([kind, name]);
  const old = new Map(before?.definitions.map((one) => [keyOf(one), one]));
  // Where the earlier version did not list one, or does not start any more, nobody knows what was accepted of it.
  const wasAccepted = (one: TriedDefinition) => !isHeld(old.get(keyOf(one)) ?? one, tried);
  return (one) => shown.has(one) && (one.waiting?.findings.length ?? 0) === 0 && wasAccepted(one);
}

/** Whether a gateway would hold a definition back: a trial asks about those, too, that its server need not ask for. */
function isHeld({ waiting }: TriedDefinition, { isTaken }: Pick<PassedVersion, "isTaken">): boolean {
  return waiting !== undefined && (waiting.isChanged || !isTaken);
}

/** The changes that are printed whole. */
function printedOf({ added, removed, changed }: DefinitionChanges): DefinitionChanges {
  return {
    added: added.slice(0, changesMaxCount),
    removed: removed.slice(0, changesMaxCount),
    changed: changed.slice(0, changesMaxCount),
  };
}
