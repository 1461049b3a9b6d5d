/** `toolcrib install`: shows what will be installed, and installs all of it or nothing. */

import {
  applyInstall,
  type InstallPlan,
  lockFileName,
  parseSource,
  planInstall,
} from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { withProgress } from "../progress/progress.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { accessText } from "./access-text.ts";
import {
  type AllowFlags,
  changeDeps,
  openPackageSources,
  type PackageSources,
  toAllowances,
  toPlace,
} from "./install-context.ts";
import { configuredPackages, isKnownTool, knownNamespaces } from "./known-tools.ts";
import { givenSettings } from "./test-settings.ts";

/** Options of `install`. */
export interface InstallFlags extends AllowFlags, ConfirmFlags {
  readonly user?: boolean;
  readonly locked?: boolean;
  readonly keyId?: string;
}

/** Options about what happens after the plan was shown. */
export interface ConfirmFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly allowTool?: readonly string[];
  /** Whether nothing is printed where everything is installed already. @default false */
  readonly isQuietIfCurrent?: boolean;
}

/** Runs `install`. */
export async function installTools(
  context: CliContext,
  sources: readonly string[],
  flags: InstallFlags,
): Promise<ExitCode> {
  checkUse(sources, flags);
  const place = await toPlace(context, flags);
  await using packageSources = await openPackageSources(context, flags);
  return await installSources(context, packageSources, {
    ...place,
    sources: sources.map((source) => parseSource(source, context.directory)),
    isLocked: flags.locked === true,
    allowed: toAllowances(flags),
    requiredKey: flags.keyId,
    signal: context.signal,
    flags,
  });
}

/** @throws {CliError} `CLI_USAGE` */
function checkUse(sources: readonly string[], { locked = false, user = false }: InstallFlags): void {
  if (locked && (user || sources.length > 0)) {
    throw new CliError(
      "CLI_USAGE",
      `--locked installs what ${lockFileName} of this project names, and nothing else`,
      {
        hint: "leave out the other sources and --user",
      },
    );
  }
  if (locked || sources.length > 0) return;
  throw new CliError("CLI_USAGE", "Nothing to install is named", {
    hint: `name a FILE, a FOLDER, a URL or a TOOLID; --locked installs what ${lockFileName} names`,
  });
}

/** Plans, shows and applies an installation. */
export async function installSources(
  context: CliContext,
  sources: PackageSources,
  { flags, ...request }: Parameters<typeof planInstall>[1] & { readonly flags: ConfirmFlags },
): Promise<ExitCode> {
  const { output } = context;
  const plan = await withProgress(context, "Fetching and checking packages", () =>
    planInstall(sources, request),
  );
  const isDone = flags.dryRun !== true;
  await noteReach(context, plan);
  const approvedTools = isDone ? await approvedToolsOf(context, plan, flags) : [];
  if (isDone && (approvedTools === undefined || !(await isConfirmed(context, plan, flags)))) {
    output.note("Nothing was installed");
    return exitCodes.failed;
  }
  if (isDone) {
    await withProgress(context, "Installing packages", () =>
      applyInstall(changeDeps(context), plan, { approvedTools: approvedTools ?? [] }),
    );
  }
  output.json({
    isDryRun: !isDone,
    project: request.project ?? null,
    packages: plan.packages.map((one) => ({
      ...one,
      publisherKey: one.publisherKey ?? null,
      registry: one.registry ?? null,
      replaces: one.replaces ?? null,
    })),
  });
  const reaches = isDone ? () => [] : await accessLines(context, plan);
  if (plan.packages.length === 0) {
    if (flags.isQuietIfCurrent !== true) output.print("Everything is installed already.");
  } else
    output.print(
      ...plan.packages.flatMap((one) => [
        ...linesOf(context, one, isDone ? "Installed" : "Would install"),
        ...reaches(one),
      ]),
    );
  if (isDone) printNext(context, plan);
  return exitCodes.done;
}

/** On a terminal, names the command that shows the first tool that is new here. */
function printNext(context: CliContext, { packages }: InstallPlan): void {
  const { output } = context;
  const added = packages.find(({ isInstalled, replaces }) => !isInstalled && replaces === undefined);
  if (added === undefined || !output.isTerminal) return;
  const command = `${ownCommand(context)} describe ${shellQuote(added.toolId)}`;
  output.print("", output.style("bold", "Try"), `  ${command}`);
}

/** Returns the lines about what each new package can reach by its manifest, and what the configuration adds to that. */
async function accessLines(
  context: CliContext,
  plan: InstallPlan,
): Promise<(planned: Planned) => readonly string[]> {
  const config = await configuredPackages(context);
  return ({ toolId, access, isInstalled }) => {
    if (isInstalled) return [];
    const own = config !== undefined && Object.hasOwn(config.byId, toolId) ? config.byId[toolId] : undefined;
    const manifest = plan.candidates.get(toolId)?.opened.manifest;
    const given = own === undefined || manifest === undefined ? [] : givenSettings(manifest, own);
    return [
      `  Reaches ${safeLine(accessText(access))}`,
      ...(given.length === 0
        ? []
        : [`  packages.${toolId} of the configuration gives it ${given.map(safeLine).join("; ")}`]),
    ];
  };
}

/** Shows which tools the programs of the packages can call, and which of those do not exist here. */
async function noteReach(context: CliContext, plan: InstallPlan): Promise<void> {
  const { output } = context;
  const all = plan.packages.filter(({ reach, reachGrowth, isInstalled }) =>
    isInstalled ? reachGrowth.length > 0 : reach.length > 0,
  );
  for (const { toolId, version, reach, reachGrowth } of all) {
    const isNew = new Set(reachGrowth);
    output.note(
      `The program of ${toolId} ${version} can call these tools:`,
      ...reach.map((id) => `  ${safeLine(id)}${isNew.has(id) ? "" : " (approved before)"}`),
    );
  }
  if (all.length === 0) return;
  const known = await knownNamespaces(context, plan);
  const missing = new Set(all.flatMap(({ reach }) => reach).filter((id) => !isKnownTool(id, known)));
  if (missing.size === 0) return;
  output.note(
    `${output.noteStyle("yellow", "warning")}: these tools do not exist here, and calls fail until they do: ${[...missing].map(safeLine).join(", ")}`,
  );
}

/**
 * Returns the tools that the operator approved, by a flag or when asked; undefined after a no. Where nobody can be
 * asked, the installation refuses what no flag approves. `--yes` approves no tool: a later version could widen its reach.
 */
async function approvedToolsOf(
  context: CliContext,
  plan: InstallPlan,
  { allowTool = [], yes }: ConfirmFlags,
): Promise<readonly string[] | undefined> {
  const allowed = new Set(allowTool);
  const growth = plan.packages.flatMap(({ reachGrowth }) => reachGrowth).filter((id) => !allowed.has(id));
  if (growth.length === 0 || yes === true || !canAsk(context)) return allowTool;
  const answer = await askLine("Approve that these programs call these tools? [y/N] ", context);
  return /^y(?:es)?$/i.test(answer) ? [...allowTool, ...growth] : undefined;
}

/** Shows what was not named, and asks where it must or can. */
async function isConfirmed(context: CliContext, plan: InstallPlan, flags: ConfirmFlags): Promise<boolean> {
  const { output } = context;
  const changes = plan.packages.filter(({ isInstalled }) => !isInstalled);
  const isLocked = plan.request.isLocked === true;
  const hasMore = changes.some(({ neededBy }) => neededBy.length > 0);
  if (changes.length === 0 || (!isLocked && !hasMore)) return true;
  const title = isLocked
    ? `${lockFileName} of this project names these packages:`
    : "These packages will be installed together:";
  const reaches = await accessLines(context, plan);
  output.note(
    title,
    ...changes.flatMap((one) => [`  ${describe(one)}`, ...reaches(one).map((line) => `  ${line}`)]),
  );
  if (flags.yes === true) return true;
  if (canAsk(context)) {
    const answer = await askLine("Install them? [y/N] ", context);
    return /^y(?:es)?$/i.test(answer);
  }
  // What chains need follows from what was named; a lock file can have been written by anybody.
  if (!isLocked) return true;
  throw new CliError("CLI_USAGE", `Whether to install what ${lockFileName} names is for you to decide`, {
    hint: "compare the keys with those that the publishers state, and add --yes",
  });
}

type Planned = InstallPlan["packages"][number];

function describe({ toolId, version, replaces, neededBy, publisherKey, source, registry }: Planned): string {
  const changed = replaces === undefined || replaces === version ? "" : ` (instead of ${replaces})`;
  const needed = neededBy.length === 0 ? "" : `, needed by ${neededBy.join(", ")}`;
  const signer = publisherKey === undefined ? "not signed" : `signed by ${publisherKey}`;
  const place = registry === undefined ? "" : ` of the registry ${safeLine(registry)}`;
  return `${toolId} ${version}${changed} from ${safeLine(source)}${place}${needed}, ${signer}`;
}

function linesOf({ output }: CliContext, one: Planned, verb: string): readonly string[] {
  if (one.isInstalled) return [`${one.toolId} ${one.version} is installed already`];
  const lines = [
    `${verb} ${output.style("bold", `${one.toolId} ${one.version}`)}${describe(one).slice(`${one.toolId} ${one.version}`.length)}`,
  ];
  if (one.isKeyNew)
    lines.push(`  Its key is pinned from now on; compare it with the one that the publisher states`);
  return lines;
}
