/**
 * Values that a server does not work without and that only the operator knows, as its manifest declares them
 * (`requires`). On a terminal the command asks for those that are missing; elsewhere, and with `--yes`, nothing is
 * added, and the error has the command line that gives them.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { givenWords, lastWords, optionWords } from "../add/given-words.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import type { ServerEntry } from "../toolspec/catalog.ts";
import { type ManifestRequirement, requirementText } from "../toolspec/entry-text.ts";
import { missingArguments } from "./given-arguments.ts";

/**
 * Completes `flags` with what the manifest requires.
 *
 * @param reference the name of the manifest on the command line
 * @throws {CliError} `CLI_USAGE` where a value is missing and cannot be asked for
 */
export async function requireValues(
  context: CliContext,
  { manifest }: ServerEntry,
  reference: string,
  flags: AddFlags,
): Promise<AddFlags> {
  const missing = missingOf(context, manifest.requires ?? [], flags);
  if (missing.length === 0) return flags;
  if (flags.yes === true || flags.dryRun === true || !canAsk(context))
    throw missingValues(context, manifest.name, reference, flags, missing);
  let completed = flags;
  for (const [at, requirement] of missing.entries()) {
    const answer = await askLine(`${safeLine(requirementText(requirement))}? `, context);
    if (answer === "") throw missingValues(context, manifest.name, reference, completed, missing.slice(at));
    completed = withValue(context, completed, requirement, answer);
  }
  return completed;
}

/** The values that the flags do not have. */
function missingOf(
  context: CliContext,
  requires: readonly ManifestRequirement[],
  { env = [], serverArg = [] }: AddFlags,
): readonly ManifestRequirement[] {
  const variables = new Set(env.map(([name]) => name));
  const isPath = (word: string) => existsSync(resolve(context.directory, word));
  const missing = missingArguments(requires, serverArg, isPath);
  return requires.filter((one) =>
    one.variable === undefined ? missing.has(one) : !variables.has(one.variable),
  );
}

/** Adds a value that was typed, and the access to the path that it is. */
function withValue(
  context: CliContext,
  flags: AddFlags,
  { variable, option, value }: ManifestRequirement,
  answer: string,
): AddFlags {
  const typed = answer.startsWith("~/") ? join(homeOf(context), answer.slice(2)) : answer;
  const given = value === undefined || value === "text" ? answer : resolve(context.directory, typed);
  const { serverArg = [], env = [], read = [], write = [] } = flags;
  return {
    ...flags,
    ...(variable === undefined
      ? { serverArg: [...serverArg, ...(option === undefined ? [] : [option]), given] }
      : { env: [...env, [variable, given]] }),
    ...(value === "read_folder" ? { read: [...read, given] } : {}),
    ...(value === "written_file" ? { write: [...write, dirname(given)] } : {}),
  };
}

function missingValues(
  context: CliContext,
  name: string,
  reference: string,
  flags: AddFlags,
  missing: readonly ManifestRequirement[],
): CliError {
  const { read = [], write = [] } = flags;
  // Access that was given names the path, where it is one.
  const only = (paths: readonly string[]) =>
    paths.length === 1 ? resolve(context.directory, paths[0] ?? "") : undefined;
  const own = join(homeOf(context), `${name}-data`);
  const written = only(write);
  const folder = written ?? own;
  const readable = only(read);
  const place = readable ?? (mayBeRead(context) ? context.directory : undefined);
  const granted = new Set([readable, written]);
  const values = missing.map((one) =>
    wordsOf(one, { folder, file: join(folder, `${name}.jsonl`), place, granted }),
  );
  const needsFolder = missing.some(({ value }) => value === "written_file") && !existsSync(folder);
  const words = [
    ...(needsFolder ? [`mkdir -p ${shellQuote(folder)} &&`] : []),
    `${ownCommand(context)} add ${shellQuote(reference)}`,
    ...givenWords(flags),
    ...values,
    ...lastWords(flags),
    ...context.options.configFiles.map((path) => `--config ${shellQuote(path)}`),
  ];
  const what = missing.map((one) => safeLine(requirementText(one))).join(", and ");
  return new CliError("CLI_USAGE", `Nothing was added: ${name} does not work without ${what}`, {
    hint: `${hintOf(missing, place)}: ${words.join(" ")}`,
  });
}

function hintOf(missing: readonly ManifestRequirement[], place: string | undefined): string {
  if (missing.some(({ value }) => value === "written_file")) return "name a file in a folder of its own";
  if (missing.some(({ value }) => value === "read_folder"))
    return place === undefined ? "name the folder" : "name the folder, such as this one";
  return "give its value";
}

/** The paths of a command to copy. */
interface SuggestedPaths {
  readonly folder: string;
  readonly file: string;
  readonly place: string | undefined;
  /** Those to which access was given. */
  readonly granted: ReadonlySet<string | undefined>;
}

/** The options that give the value, with paths that can be copied, and words in capitals for what nobody can guess. */
function wordsOf(
  { variable, argument = "VALUE", option, value }: ManifestRequirement,
  { folder, file, place, granted }: SuggestedPaths,
): string {
  const word = variable === undefined ? argument : "VALUE";
  const readPlace = place ?? word;
  const shown = value === "written_file" ? file : value === "read_folder" ? readPlace : word;
  const given =
    variable === undefined
      ? [...(option === undefined ? [] : [option]), shown]
          .map((one) => optionWords("--server-arg", one))
          .join(" ")
      : optionWords("--env", `${variable}=${shown}`);
  return [
    given,
    ...(value === "written_file" && !granted.has(folder) ? [optionWords("--write", folder)] : []),
    ...(value === "read_folder" && !granted.has(place ?? "") ? [optionWords("--read", readPlace)] : []),
  ].join(" ");
}

/** Whether the working folder can be shown to a server: no home, and no folder that the home of Toolcrib lies in. */
function mayBeRead(context: CliContext): boolean {
  const folder = context.directory.endsWith(sep) ? context.directory : `${context.directory}${sep}`;
  return ![context.options.home, homeOf(context)].some((one) => `${resolve(one)}${sep}`.startsWith(folder));
}

function homeOf({ env }: CliContext): string {
  return env["HOME"] ?? homedir();
}
