/** Finds the entry of the catalog that `toolcrib add` adds, and asks for the values of its variables. */

import { didYouMean } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { fitStyled } from "../output/fit-styled.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "./add-flags.ts";
import {
  type ApiEntry,
  type CatalogEntry,
  findEntries,
  namedEntries,
  offerableEntries,
  parseEntryName,
  readEntries,
  readEntry,
} from "./catalog.ts";

/** Most entries that are offered. */
const offeredMaxCount = 8;

/**
 * Finds the entry for a name or for search words, and the requested version. One requested word is (part of) a name;
 * several words, and an answer, also describe what it should do. With `--yes` nothing is asked.
 *
 * @returns undefined where the answer was none
 */
export async function chooseEntry(
  context: CliContext,
  requested: string | undefined,
  { yes }: Pick<AddFlags, "yes"> = {},
): Promise<{ readonly entry: CatalogEntry; readonly version: string | undefined } | undefined> {
  const isAsking = canAsk(context) && yes !== true;
  if (requested === undefined && !isAsking) {
    throw new CliError("CLI_USAGE", "The name of the API or server is missing", {
      hint: "see toolcrib add --list, or find one with toolcrib catalog search WORDS",
    });
  }
  const text = requested ?? (await askLine("Which API or server? (a name, or what it should do) ", context));
  if (text === "" && requested === undefined) return undefined;
  const { name, version } = parseEntryName(text);
  const entries = await readEntries(context);
  const isName = version !== undefined || entries.some(({ manifest }) => manifest.name === name);
  const isWord = requested !== undefined && /^\S+$/.test(name);
  const find = isWord ? namedEntries : offerableEntries;
  const hits = isName ? [] : find(entries, name, offeredMaxCount);
  if (hits.length === 0) {
    if (!isName) throw isWord ? unnamed(context, entries, name) : unfound(context, name);
    return { entry: await readEntry(context, name, version), version };
  }
  if (isAsking) {
    const entry = await chooseHit(context, hits);
    return entry === undefined ? undefined : { entry, version };
  }
  const names = hits.map(({ manifest }) => manifest.name);
  throw new CliError("CLI_TOOLSPEC_NOT_FOUND", `The catalog has no toolspec ${JSON.stringify(name)}`, {
    hint: names.length === 1 ? `did you mean ${names[0]}?` : `did you mean one of ${names.join(", ")}?`,
  });
}

/** The error for a word that is in no name: entries that only mention it are left to a search. */
function unnamed(context: CliContext, entries: readonly CatalogEntry[], word: string): CliError {
  const names = entries.map(({ manifest }) => manifest.name);
  const isMentioned = findEntries(entries, word, 1).length > 0;
  const command = `${ownCommand(context)} catalog`;
  const hint =
    didYouMean(word, names) ??
    (isMentioned ? `${command} search ${shellQuote(word)} lists what mentions it` : `see ${command} list`);
  return new CliError(
    "CLI_TOOLSPEC_NOT_FOUND",
    `The catalog has nothing with ${JSON.stringify(word)} in its name or title`,
    { hint },
  );
}

/** The error for search words that find nothing. */
export function unfound(context: CliContext, words: string): CliError {
  return new CliError(
    "CLI_TOOLSPEC_NOT_FOUND",
    `The catalog has nothing for ${JSON.stringify(words.slice(0, 200))}`,
    {
      hint: `see ${ownCommand(context)} catalog list; a package of a registry is added as npm:NAME or pypi:NAME, a server elsewhere by its URL, and a command line after --: toolcrib add -- node server.js`,
    },
  );
}

/** Asks which of `hits` is meant. @returns undefined for none */
async function chooseHit(
  context: CliContext,
  hits: readonly CatalogEntry[],
): Promise<CatalogEntry | undefined> {
  const { output, stderr } = context;
  const width = output.isNoteTerminal ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  output.note(
    ...hits.map(({ manifest }, at) =>
      fitStyled(`  ${at + 1}  ${manifest.name}  ${safeLine(manifest.description ?? "")}`, width),
    ),
  );
  for (;;) {
    const which = hits.length === 1 ? "Is it this one? (1" : `Which one? (1 to ${hits.length}`;
    const answer = await askLine(`${which}, or Enter for none) `, context);
    if (answer === "") return undefined;
    const hit = hits.find(({ manifest }, at) => manifest.name === answer || String(at + 1) === answer);
    if (hit !== undefined) return hit;
  }
}

/** Returns the values of the variables of an entry, from the flags or from the user. @throws {CliError} `CLI_USAGE` */
export async function chooseVariables(
  context: CliContext,
  { toolspec }: ApiEntry,
  flags: Pick<AddFlags, "variable" | "yes">,
): Promise<{ readonly [name: string]: string }> {
  const { output } = context;
  const declared = toolspec.variables ?? {};
  const given = new Map(flags.variable ?? []);
  const unknown = [...given.keys()].find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) {
    const known = Object.keys(declared).join(", ");
    throw new CliError("CLI_USAGE", `It has no variable ${JSON.stringify(unknown)}`, {
      hint: known === "" ? "omit --variable: it has none" : `its variables are ${known}`,
    });
  }
  for (const [name, { description, default: fallback }] of Object.entries(declared)) {
    if (given.has(name) || fallback !== undefined) continue;
    if (!canAsk(context) || flags.yes === true) {
      throw new CliError("CLI_USAGE", `It needs a value for its variable ${JSON.stringify(name)}`, {
        hint: `give it: --variable ${name}=VALUE${description === undefined ? "" : ` (${safeLine(description)})`}`,
      });
    }
    if (description !== undefined) output.note(safeLine(description));
    given.set(name, await askLine(`${name}: `, context));
  }
  return Object.fromEntries(given);
}
