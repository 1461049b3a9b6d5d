/** Finds the entry of the catalog that `toolcrib add` adds, and asks for the values of its variables. */

import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { fitStyled } from "../output/fit-styled.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import type { AddFlags } from "./add-flags.ts";
import {
  type ApiEntry,
  type CatalogEntry,
  offerableEntries,
  parseEntryName,
  readEntries,
  readEntry,
} from "./catalog.ts";

/** Finds the entry for a name or for search words, and the requested version. With `--yes` nothing is asked. */
export async function chooseEntry(
  context: CliContext,
  requested: string | undefined,
  { yes }: Pick<AddFlags, "yes"> = {},
): Promise<{ readonly entry: CatalogEntry; readonly version: string | undefined }> {
  const isAsking = canAsk(context) && yes !== true;
  if (requested === undefined && !isAsking) {
    throw new CliError("CLI_USAGE", "The name of the API or server is missing", {
      hint: "see toolcrib add --list, or find one with toolcrib catalog search WORDS",
    });
  }
  const text = requested ?? (await askLine("Which API or server? (a name, or what it should do) ", context));
  const { name, version } = parseEntryName(text);
  const entries = await readEntries(context);
  const isName = version !== undefined || entries.some(({ manifest }) => manifest.name === name);
  const hits = isName ? [] : offerableEntries(entries, name, 8);
  if (hits.length === 0) return { entry: await readEntry(context, name, version), version };
  if (isAsking) return { entry: await chooseHit(context, hits), version };
  const names = hits.map(({ manifest }) => manifest.name);
  throw new CliError("CLI_TOOLSPEC_NOT_FOUND", `The catalog has no toolspec ${JSON.stringify(name)}`, {
    hint: names.length === 1 ? `did you mean ${names[0]}?` : `did you mean one of ${names.join(", ")}?`,
  });
}

async function chooseHit(context: CliContext, hits: readonly CatalogEntry[]): Promise<CatalogEntry> {
  const { output, stderr } = context;
  const width = output.isNoteTerminal ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  output.note(
    ...hits.map(({ manifest }, at) =>
      fitStyled(`  ${at + 1}  ${manifest.name}  ${safeLine(manifest.description ?? "")}`, width),
    ),
  );
  for (;;) {
    const answer = await askLine(`Which one? (1 to ${hits.length}, or Enter to stop) `, context);
    if (answer === "") throw new CliError("CLI_INTERRUPTED", "Nothing was added");
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
