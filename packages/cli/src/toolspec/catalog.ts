/**
 * Finds entries of the catalog by name or by words, each with its manifest and
 * toolspec. Reads only the folder that is included with the command, or the folder
 * in `TOOLCRIB_CATALOG`.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { listCatalogNames, readCatalogManifest, readCatalogPair } from "@toolcrib/config";
import { type Diagnostic, didYouMean } from "@toolcrib/diagnostics";
import { readRegularFileAtOnce } from "@toolcrib/files";
import { createToolSearch } from "@toolcrib/search";
import {
  type AdoptedSource,
  adoptedSource,
  lintCatalog,
  type Manifest,
  parseManifest,
  type Toolspec,
} from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { findCatalogFolder } from "./find-catalog.ts";

/** A REST API of the catalog. */
export interface ApiEntry {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/** A server that the catalog adopts. */
export interface ServerEntry {
  readonly manifest: Manifest;
  readonly toolspec?: undefined;
  readonly source: AdoptedSource;
}

/** An entry of the catalog. */
export type CatalogEntry = ApiEntry | ServerEntry;

/** Returns the number of tools of an entry. */
export function toolCountOf({ manifest, toolspec }: CatalogEntry): number {
  return toolspec === undefined ? (manifest.tools?.length ?? 0) : toolspec.tools.length;
}

/** Parses `NAME` or `NAME@VERSION`. */
export function parseEntryName(text: string): {
  readonly name: string;
  readonly version: string | undefined;
} {
  const [, name = text, version] = /^([a-z0-9-]+)@([0-9.]+)$/.exec(text.trim()) ?? [];
  return { name: name.trim(), version };
}

/** Reads the newest version of each valid entry, by name. */
export async function readEntries(context: ProcessContext): Promise<readonly CatalogEntry[]> {
  const folder = catalogFolder(context);
  const names = await listCatalogNames(folder);
  const reports = await Promise.all(names.map((name) => readReport(folder, name, undefined)));
  return reports.flatMap((report) => report?.entries ?? []);
}

/**
 * Reads the toolspec `name`.
 *
 * @throws {CliError} `CLI_TOOLSPEC_NOT_FOUND`; `CLI_CONFIG_INVALID` if its files have errors.
 */
export async function readEntry(
  context: ProcessContext,
  name: string,
  version: string | undefined,
): Promise<CatalogEntry> {
  const folder = catalogFolder(context);
  const report = /^[a-z0-9-]{1,128}$/.test(name) ? await readReport(folder, name, version) : undefined;
  const [entry] = report?.entries ?? [];
  if (entry !== undefined) return entry;
  const shown = JSON.stringify(version === undefined ? name : `${name} ${version}`);
  if (report !== undefined) {
    throw new CliError("CLI_CONFIG_INVALID", `The entry ${shown} of the catalog has errors`, {
      hint: "fix the errors listed above, or choose another version",
      data: { diagnostics: report.diagnostics },
    });
  }
  const names = await listCatalogNames(folder);
  throw new CliError("CLI_TOOLSPEC_NOT_FOUND", `The catalog has no toolspec ${shown}`, {
    hint:
      didYouMean(name, names) ?? "see toolcrib catalog list, or find one with toolcrib catalog search WORDS",
  });
}

/** Searches `entries` for `words`, best match first. */
export function findEntries(
  entries: readonly CatalogEntry[],
  words: string,
  limit: number,
): readonly CatalogEntry[] {
  return namedIn(entries, searchIn(entries, words, { limit, withTools: true }));
}

/**
 * Returns the entries that one word can name: a word of their name or title is it, or begins with it. Exact words come
 * first, then the order of `entries`. A search also finds the word in descriptions and tools.
 */
export function namedEntries(
  entries: readonly CatalogEntry[],
  word: string,
  limit: number,
): readonly CatalogEntry[] {
  const wanted = word.toLowerCase();
  if (wanted === "") return [];
  const wordsIn = ({ manifest: { name, displayName } }: CatalogEntry) =>
    [name, displayName ?? name].flatMap((text) => {
      const whole = text.toLowerCase();
      return [whole, ...whole.split(/[^\p{L}\p{N}]+/u)];
    });
  const isExact = (entry: CatalogEntry) => wordsIn(entry).includes(wanted);
  const found = entries.filter((entry) => wordsIn(entry).some((one) => one.startsWith(wanted)));
  return [...found.filter(isExact), ...found.filter((entry) => !isExact(entry))].slice(0, limit);
}

type SearchHit = ReturnType<ReturnType<typeof createToolSearch>["search"]>[number];

/** Least score of an entry that is offered, relative to the best: by its own texts, and only by those of its tools. */
const offeredShares = { own: 0.5, tools: 0.7 };

/** Least share of the weight of the words that an entry has for a sentence: words that few entries have weigh most. */
const sentenceShare = 0.6;
/** Words of a sentence at least; an entry has all of fewer words. */
const sentenceMinWords = 3;

/**
 * Returns the entries that `words` can mean, best match first. Words that every search leaves out, such as "a", and
 * those that no entry has do not count. An entry has all others in its name, category or description; where none has
 * them, and they are a sentence, it has those there that make up most of their weight; or else, its tools have them all.
 * Only entries near the best match are returned; a search finds more.
 */
export function offerableEntries(
  entries: readonly CatalogEntry[],
  words: string,
  limit: number,
): readonly CatalogEntry[] {
  const all = searchIn(entries, words, { limit: searchLimit, withTools: true });
  const named = searchIn(entries, words, { limit: searchLimit, withTools: false });
  const counted = new Set(all.flatMap(wordsOf));
  const isComplete = (hit: SearchHit) => new Set(wordsOf(hit)).size === counted.size;
  const isNear = (hits: readonly SearchHit[], share: number) => (hit: SearchHit) =>
    hit.score >= share * (hits[0]?.score ?? 0);
  const own = new Set(named.filter(isComplete).map(({ id }) => id));
  const subjects = all.filter(isNear(all, offeredShares.own)).filter(({ id }) => own.has(id));
  if (subjects.length > 0) return namedIn(entries, subjects).slice(0, limit);
  const likely =
    counted.size < sentenceMinWords
      ? []
      : mostOf(named, all, counted).filter(isNear(named, offeredShares.own));
  const found = likely.length > 0 ? likely : all.filter(isComplete).filter(isNear(all, offeredShares.tools));
  return namedIn(entries, found).slice(0, limit);
}

/** Returns the hits of `named` that have most of the weight of the words, those of their tools included. */
function mostOf(
  named: readonly SearchHit[],
  all: readonly SearchHit[],
  words: ReadonlySet<string>,
): readonly SearchHit[] {
  const found = new Map(all.map((hit) => [hit.id, new Set(wordsOf(hit))]));
  const sets = named.map((hit) => new Set(wordsOf(hit)));
  const countIn = (several: Iterable<ReadonlySet<string>>, word: string) =>
    [...several].filter((one) => one.has(word)).length;
  // A word that only tools have weighs as much as it is rare among these.
  const weights = new Map(
    [...words].map((word) => [word, 1 / (countIn(sets, word) || countIn(found.values(), word))]),
  );
  const weightOf = (some: Iterable<string>) =>
    [...some].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  const least = sentenceShare * weightOf(words);
  return named.filter(({ id }) => weightOf(found.get(id) ?? []) >= least);
}

/** Most hits that are compared. */
const searchLimit = 1000;

function wordsOf({ why }: SearchHit): readonly string[] {
  return why.map(({ word }) => word);
}

function namedIn(entries: readonly CatalogEntry[], hits: readonly SearchHit[]): readonly CatalogEntry[] {
  const byName = new Map(entries.map((entry) => [entry.manifest.name, entry]));
  return hits.flatMap(({ id }) => byName.get(id) ?? []);
}

/** @param options `withTools`: whether the texts about tools count, too */
function searchIn(
  entries: readonly CatalogEntry[],
  words: string,
  { limit, withTools }: { readonly limit: number; readonly withTools: boolean },
): readonly SearchHit[] {
  const search = createToolSearch();
  for (const { manifest, toolspec } of entries) {
    const { name, displayName, description, category } = manifest;
    search.add({
      id: name,
      name,
      title: displayName,
      namespace: name,
      description: [description ?? "", ...(withTools ? toolTextsOf(manifest, toolspec) : [])].join("\n"),
      tags: category === undefined ? [] : [category],
    });
  }
  return search.search(words, { limit });
}

/** The texts about the tools of an entry: of a server, only their names are known before it runs. */
function toolTextsOf(
  { tools = [] }: Manifest,
  toolspec: ApiEntry["toolspec"] | undefined,
): readonly string[] {
  return toolspec === undefined
    ? tools.map(({ name }) => name.replaceAll("_", " "))
    : toolspec.tools.map(({ description }) => description);
}

/** Returns the folder of the catalog. @throws {CliError} `CLI_TOOLSPEC_NOT_FOUND` */
export function catalogFolder(context: ProcessContext): string {
  const folder = findCatalogFolder(context);
  if (folder !== undefined && existsSync(join(folder, "manifests"))) return folder;
  throw new CliError(
    "CLI_TOOLSPEC_NOT_FOUND",
    folder === undefined ? "The command has no catalog" : `There is no catalog in ${folder}`,
    { hint: "set TOOLCRIB_CATALOG to a folder with manifests and toolspecs" },
  );
}

async function readReport(
  folder: string,
  name: string,
  version: string | undefined,
): Promise<EntryReport | undefined> {
  const files = await readCatalogPair(name, version, {
    readFile: readRegularFileAtOnce,
    catalogFolder: folder,
  });
  if ("code" in files) return readServerReport(folder, name, version);
  const { pairs, diagnostics } = lintCatalog([files.manifest, files.toolspec], { subject: "toolspecs" });
  return { entries: pairs, diagnostics };
}

/** The entries that were read of the files of one name, at most one, and the findings about them. */
interface EntryReport {
  readonly entries: readonly CatalogEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads an entry without a toolspec: a server that is adopted. */
async function readServerReport(
  folder: string,
  name: string,
  version: string | undefined,
): Promise<EntryReport | undefined> {
  const reference = version === undefined ? name : `${name}@${version}`;
  const found = await readCatalogManifest(reference, {
    readFile: readRegularFileAtOnce,
    catalogFolder: folder,
  });
  if ("code" in found) return undefined;
  const text = new TextDecoder().decode(found.manifest.text);
  const { value, diagnostics } = parseManifest({ name: found.manifest.name, text });
  const source = value === undefined ? undefined : adoptedSource(value);
  if (value === undefined || source === undefined) return { entries: [], diagnostics };
  // Without its toolspec an API has no tools.
  return "kind" in source ? { entries: [{ manifest: value, source }], diagnostics } : undefined;
}
