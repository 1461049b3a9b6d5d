/** `toolcrib add`: recognizes what is to be added, and hands it to what adds it. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import { givenWords, lastWords } from "./given-words.ts";
import { recognise, unambiguousForms } from "./recognise.ts";
import { refuseSecretFlags } from "./refuse-secrets.ts";

/** Runs the command. @param words what is to be added, or after `--` a command line */
export async function addWhat(
  context: CliContext,
  words: readonly string[],
  { list, ...flags }: AddFlags & { readonly list?: boolean },
): Promise<ExitCode> {
  if (list === true) {
    const { listCatalog } = await import("../toolspec/show-catalog.ts");
    return await listCatalog(context);
  }
  refuseSecretFlags(context.output, flags);
  if (isCommandLine(context, words)) {
    const { offerCommand } = await import("./offer.ts");
    const { addOffer } = await import("./add-offer.ts");
    return await addOffer(context, await offerCommand(context, words, flags), flags);
  }
  const [word, ...others] = words;
  if (others.length > 0) throw await severalWords(context, words);
  if (word === undefined) return await addFromCatalog(context, undefined, flags);
  const addable = recognise(word, (path) => kindOfPath(resolve(context.directory, path)));
  switch (addable.kind) {
    case "catalog":
      return await addFromCatalog(context, addable.text, flags);
    case "word":
      return await addWord(context, addable.text, flags);
    case "manifest":
      return await addFromCatalog(context, addable.path, flags);
    case "toolPackage":
      return await installPackage(context, addable.source, flags);
    case "serverJson": {
      const { importServer } = await import("../server-import/import-server.ts");
      const { finishImport } = await import("./finish-import.ts");
      return await importServer(context, addable.place, flags, finishImport(flags));
    }
    case "bundle": {
      const { importBundle } = await import("../server-import/import-bundle.ts");
      const { finishImport } = await import("./finish-import.ts");
      return await importBundle(context, addable.place, flags, finishImport(flags));
    }
    case "url": {
      const { offerUrl } = await import("./offer.ts");
      const { addOffer } = await import("./add-offer.ts");
      return await addOffer(context, await offerUrl(context, addable.url, flags), flags);
    }
    case "package": {
      const { lookUpOne } = await import("./offer-runner.ts");
      const { offerPackage } = await import("./offer.ts");
      const { addOffer } = await import("./add-offer.ts");
      const published = await lookUpOne(context, addable.wanted);
      return await addOffer(context, offerPackage(published, flags), flags);
    }
  }
}

/** The error for several words: names of several entries, words of a search, or a command line. */
async function severalWords(context: CliContext, words: readonly string[]): Promise<CliError> {
  const line = "a command line is written after --: toolcrib add -- node server.js";
  const oneAtATime = (hint: string) => new CliError("CLI_USAGE", "One thing is added at a time", { hint });
  // Others can be a command line, with secrets in it.
  if (!words.every((word) => /^[\p{L}\p{N}][\p{L}\p{N}-]{0,40}$/u.test(word)) || words.length > 6)
    return oneAtATime(`quote search words; ${line}`);
  const { offerableEntries, readEntries } = await import("../toolspec/catalog.ts");
  const entries = await readEntries(context);
  const isName = (word: string) => entries.some(({ manifest }) => manifest.name === word);
  if (words.every(isName))
    return oneAtATime(`run ${words.map((word) => `toolcrib add ${word}`).join(", then ")}`);
  const text = words.join(" ");
  if (offerableEntries(entries, text, 1).length > 0)
    return oneAtATime(`quote search words: toolcrib add "${text}"; ${line}`);
  const { unfound } = await import("../toolspec/choose-entry.ts");
  return unfound(context, text);
}

/** Whether the words stand after `--`. */
function isCommandLine({ args }: CliContext, words: readonly string[]): boolean {
  const at = args.indexOf("--");
  return at !== -1 && words.length > 0 && args.length - at - 1 === words.length;
}

function kindOfPath(path: string): "file" | "folder" | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? "folder" : "file";
}

async function addFromCatalog(
  context: CliContext,
  text: string | undefined,
  flags: AddFlags,
): Promise<ExitCode> {
  const { addToolspec } = await import("../toolspec/add-toolspec.ts");
  return await addToolspec(context, text, flags);
}

/** A word of the catalog; for all others the error names the forms that say which registry is meant. */
async function addWord(context: CliContext, word: string, flags: AddFlags): Promise<ExitCode> {
  try {
    return await addFromCatalog(context, word, flags);
  } catch (error) {
    const forms = unambiguousForms(word);
    if (!(error instanceof CliError) || error.code !== "CLI_TOOLSPEC_NOT_FOUND" || forms.length === 0)
      throw error;
    // What asks for nothing refuses, with the whole command lines.
    const lineOf = (form: string) =>
      ["toolcrib add", form, ...givenWords(flags), ...lastWords(flags)].join(" ");
    const named = flags.yes === true ? forms.map((form) => lineOf(form)) : forms;
    const { hint = "" } = error;
    throw new CliError(error.code, error.message, {
      cause: error,
      hint: `${hint}${hint.endsWith("?") ? " A" : "; a"} package of a registry is named with it: ${named.join(", ")}; a server elsewhere by its URL, or after -- by its command line`,
    });
  }
}

async function installPackage(context: CliContext, source: string, flags: AddFlags): Promise<ExitCode> {
  const { installTools } = await import("../package/install-tools.ts");
  const { yes, dryRun } = flags;
  return await installTools(context, [source], {
    ...(yes === undefined ? {} : { yes }),
    ...(dryRun === undefined ? {} : { dryRun }),
  });
}
