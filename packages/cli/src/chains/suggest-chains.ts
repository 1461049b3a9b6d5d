/**
 * `toolcrib chains suggest`: finds chains in the audit trail and writes them as packages. It shows tools, places
 * and counts, and no value; it calls and installs nothing.
 */

import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ChainMiner, type ChainSuggestion, type ChainSuggestions } from "@toolcrib/dise";
import { createFile } from "@toolcrib/files";
import { readTrail } from "@toolcrib/store";
import { type AuditTime, isWanted, toQuery } from "../audit/audit-filter.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";

/** Options of the command. */
export interface SuggestFlags {
  readonly since?: AuditTime;
  readonly until?: AuditTime;
  readonly client?: string;
  readonly minSupport?: number;
  readonly minClients?: number;
  readonly minConfidence?: number;
  readonly maxSteps?: number;
  readonly limit?: number;
  readonly prefix?: string;
  readonly out?: string;
}

/** Runs the command. */
export async function suggestChains(context: CliContext, flags: SuggestFlags): Promise<ExitCode> {
  const { output } = context;
  const found = await mineTrail(context, flags);
  const folder = flags.out === undefined ? undefined : resolve(context.directory, flags.out);
  if (folder !== undefined) await writeChains(folder, found.suggestions);
  output.json({ ...found, ...(folder === undefined ? {} : { folder }) });
  if (found.suggestions.length === 0) {
    output.print(`No chain was found in ${counted(found.calls, "call")}.`);
    output.note(
      `${output.noteStyle("cyan", "hint")}: a chain needs results that became arguments of later calls of one client, in at least ${flags.minSupport ?? 5} runs (--min-support), and a trail with audit.fingerprints: true`,
    );
  }
  for (const one of found.suggestions) print(context, one, folder);
  printRest(context, found);
  return exitCodes.done;
}

async function mineTrail(
  { options, now, signal }: CliContext,
  flags: SuggestFlags,
): Promise<ChainSuggestions> {
  const { since, until, client, prefix, limit } = flags;
  const query = toQuery({ since, until, client }, now());
  const miner = new ChainMiner({
    supportMin: flags.minSupport,
    clientsMin: flags.minClients,
    confidenceMin: flags.minConfidence,
    stepsMax: flags.maxSteps,
    limit,
    prefix,
  });
  for await (const portion of readTrail(options.home, { signal })) {
    for (const { record } of portion) if (isWanted(record, query)) miner.add(record);
  }
  return miner.suggest();
}

/** Writes all folders, or none where one of them exists. */
async function writeChains(folder: string, suggestions: readonly ChainSuggestion[]): Promise<void> {
  const existing = suggestions.find(
    ({ toolId }) => lstatSync(join(folder, toolId), { throwIfNoEntry: false }) !== undefined,
  );
  if (existing !== undefined) {
    throw new CliError("CLI_FILE_EXISTS", `"${join(folder, existing.toolId)}" exists`, {
      hint: "choose another folder with --out, or remove it",
    });
  }
  for (const { toolId, manifest } of suggestions) {
    await mkdir(join(folder, toolId), { recursive: true });
    await createFile({ randomBytes }, join(folder, toolId, "manifest.json"), textOf(manifest), {
      mode: 0o644,
    });
  }
}

function textOf(manifest: ChainSuggestion["manifest"]): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

function print({ output }: CliContext, one: ChainSuggestion, folder: string | undefined): void {
  const { toolId, tools, support, clients, confidence, remarks, manifest } = one;
  const seen = `${counted(support, "run")} of ${counted(clients, "client")}, ${Math.round(100 * confidence)} % of the calls of its rarest tool`;
  output.print(
    `${output.style("green", toolId)}: ${safeLine(tools.join(" → "))}`,
    `  ${seen}`,
    ...remarks.map(({ step, argument, remark }) => `  ${step}, "${safeLine(argument)}": ${remark}`),
    ...(folder === undefined
      ? textOf(manifest).trimEnd().split("\n").map(safeLine)
      : [`  ${safeLine(join(folder, toolId))}`]),
  );
}

function printRest({ output }: CliContext, found: ChainSuggestions): void {
  const { unmapped, omitted, droppedCalls, calls } = found;
  for (const { tools, support, reason } of unmapped)
    output.note(
      `Not a chain: ${safeLine(tools.join(" → "))} (${counted(support, "run")}): ${safeLine(reason)}`,
    );
  if (omitted > 0) output.note(`${counted(omitted, "more chain")} not shown; use --limit or --min-support`);
  if (droppedCalls > 0)
    output.note(
      `Only the newest ${counted(calls, "call")} were compared; use --since and --until for others`,
    );
}
