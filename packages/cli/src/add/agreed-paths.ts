/**
 * Files and folders that the author of a server named in its arguments: the server sees none of them before the
 * operator agreed to each, with `--read PATH` or on a terminal. `--yes` and `--dry-run` agree to nothing.
 */

import { existsSync, realpathSync } from "node:fs";
import type { ToolServerConfig } from "@toolcrib/config";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { pathsInArgument } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { unseenPlaces } from "../config/lint-arguments.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";

/** Paths that one question names. */
const askedMaxCount = 50;

/**
 * Asks whether the server may read what its author named, where the command can ask.
 *
 * @param files the configuration, which no server sees
 * @returns the paths that the operator agreed to
 */
export async function askAboutPaths(
  context: CliContext,
  server: ToolServerConfig,
  files: readonly string[],
  { yes, dryRun }: AddFlags,
): Promise<readonly string[]> {
  const wanted = wantedPaths(context, server, files).slice(0, askedMaxCount);
  if (wanted.length === 0 || yes === true || dryRun === true || !canAsk(context)) return [];
  const { output } = context;
  const what = counted(wanted.length, "path");
  output.note(
    `${output.noteStyle(["bold", "red"], "Its author")} wants it to read ${what} of this machine:`,
    ...wanted.map((path) => `  ${shownPath(path)}`),
  );
  const answer = await askLine(
    "May the server read them? Without, it is tried and added too. [y/N] ",
    context,
  );
  return /^y(?:es)?$/i.test(answer) ? wanted : [];
}

/** Returns what the author of a server named in its arguments, exists, and is not shown to it. */
export function wantedPaths(
  context: CliContext,
  server: ToolServerConfig,
  files: readonly string[],
): readonly string[] {
  const places = unseenPlaces(context, server, files).filter(({ reason }) => reason === "foreign");
  return [...new Set(places.map(({ path }) => path))];
}

/** Returns the arguments' paths that are values of `--set`: the operator wrote those. */
export function chosenPaths(
  { directory }: Pick<CliContext, "directory">,
  { transport }: JsonObject,
  values: readonly (readonly [string, string])[],
): readonly string[] {
  const args = isJsonObject(transport) && Array.isArray(transport["args"]) ? transport["args"] : [];
  const explicit = (text: string): readonly string[] =>
    pathsInArgument(text, directory).flatMap(({ path, isExplicit }) => (isExplicit ? [path] : []));
  const chosen = new Set(values.flatMap(([, value]) => explicit(value)));
  const named = new Set(args.flatMap((one) => (typeof one === "string" ? explicit(one) : [])));
  return [...named].filter((path) => chosen.has(path) && existsSync(path));
}

/** Returns `entry`, whose process may read `paths`, too. */
export function withReadPaths(entry: JsonObject, paths: readonly string[]): JsonObject {
  if (paths.length === 0) return entry;
  const containment = isJsonObject(entry["containment"]) ? entry["containment"] : {};
  const given = Array.isArray(containment["read_paths"]) ? containment["read_paths"] : [];
  return { ...entry, containment: { ...containment, read_paths: [...new Set([...given, ...paths])] } };
}

/** A path, and where it leads. */
function shownPath(path: string): string {
  const real = realpathSync(path);
  return safeLine(real === path ? path : `${path} (a link to ${real})`);
}
