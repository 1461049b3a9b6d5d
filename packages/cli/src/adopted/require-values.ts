/**
 * Values that a server does not work without and that only the operator knows, as its manifest declares them
 * (`requires`). On a terminal the command asks for those that are missing; elsewhere, and with `--yes`, nothing is
 * added, and the error has the command line that gives them.
 */

import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import type { ServerEntry } from "../toolspec/catalog.ts";
import { type ManifestRequirement, requirementText } from "../toolspec/entry-text.ts";

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
  const missing = (manifest.requires ?? []).filter((one) => !isGiven(one, flags));
  if (missing.length === 0) return flags;
  if (flags.yes === true || flags.dryRun === true || !canAsk(context))
    throw missingValues(context, manifest.name, reference, flags, missing);
  let completed = flags;
  for (const requirement of missing) {
    const answer = await askLine(`${safeLine(requirementText(requirement))}? `, context);
    if (answer === "") throw missingValues(context, manifest.name, reference, flags, missing);
    completed = withValue(context, completed, requirement, answer);
  }
  return completed;
}

/** Whether the flags have the value. Of arguments, only the server knows which is which. */
function isGiven({ variable }: ManifestRequirement, { env = [], serverArg = [] }: AddFlags): boolean {
  return variable === undefined ? serverArg.length > 0 : env.some(([name]) => name === variable);
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
  const folder = join(homeOf(context), `${name}-data`);
  const place = mayBeRead(context) ? context.directory : undefined;
  const values = missing.map((one) => wordsOf(one, { folder, file: join(folder, `${name}.jsonl`), place }));
  const needsFolder = missing.some(({ value }) => value === "written_file");
  const words = [
    ...(needsFolder ? [`mkdir -p ${shellQuote(folder)} &&`] : []),
    `${ownCommand(context)} add ${shellQuote(reference)}`,
    ...(flags.id === undefined ? [] : [`--id ${shellQuote(flags.id)}`]),
    ...values,
    ...(flags.yes === true ? ["--yes"] : []),
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

/** The options that give the value, with paths that can be copied, and words in capitals for what nobody can guess. */
function wordsOf(
  { variable, argument = "VALUE", option, value }: ManifestRequirement,
  {
    folder,
    file,
    place,
  }: { readonly folder: string; readonly file: string; readonly place: string | undefined },
): string {
  const word = variable === undefined ? argument : "VALUE";
  const read = place ?? word;
  const shown = value === "written_file" ? file : value === "read_folder" ? read : word;
  const access =
    value === "written_file"
      ? ` --write ${shellQuote(folder)}`
      : value === "read_folder"
        ? ` --read ${shellQuote(read)}`
        : "";
  if (variable !== undefined) return `--env ${variable}=${shellQuote(shown)}${access}`;
  const before = option === undefined ? "" : `--server-arg=${option} `;
  return `${before}--server-arg ${shellQuote(shown)}${access}`;
}

/** Whether the working folder can be shown to a server: no home, and no folder that the home of Toolcrib lies in. */
function mayBeRead(context: CliContext): boolean {
  const folder = context.directory.endsWith(sep) ? context.directory : `${context.directory}${sep}`;
  return ![context.options.home, homeOf(context)].some((one) => `${resolve(one)}${sep}`.startsWith(folder));
}

function homeOf({ env }: CliContext): string {
  return env["HOME"] ?? homedir();
}
