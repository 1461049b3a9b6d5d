/**
 * Search over the packages of registries: filters, then BM25F over ids, names, descriptions,
 * capabilities, tags, examples and names of tests. Of each package the newest version is searched that
 * is not withdrawn. Pure.
 */

import { createToolSearch, type ToolSearch } from "@toolcrib/search";
import semver from "semver";
import type { OpenedRegistry } from "../client/open-registry.ts";
import type { IndexEntry } from "../index/index-entry.ts";

/** The requirements of a package. An absent member allows everything. */
export interface PackageFilter {
  /** An implementation in this language. */
  readonly language?: string | undefined;
  /** The same implementation runs on this platform, such as `linux-x64`. */
  readonly platform?: string | undefined;
  /** All of these capabilities. */
  readonly capabilities?: readonly string[] | undefined;
  /** This license, as the manifest writes it, or as one side of an OR of an SPDX expression. */
  readonly license?: string | undefined;
}

/** A package that was found. */
export interface FoundPackage {
  readonly registry: OpenedRegistry;
  readonly entry: IndexEntry;
  /** Comparable within one search; 0 without words. */
  readonly score: number;
}

interface Candidate {
  readonly registry: OpenedRegistry;
  readonly entry: IndexEntry;
  readonly capabilities: ReadonlySet<string>;
}

/** An index over the packages of registries. It is built once, with the first search. */
export class PackageSearch {
  readonly #index: ToolSearch = createToolSearch();
  /** By toolId, in the order of the ids. */
  readonly #candidates = new Map<string, Candidate>();

  constructor(registries: readonly OpenedRegistry[]) {
    const newest = new Map<string, Candidate>();
    for (const registry of registries) {
      // A package comes from the first registry that has it.
      const earlier = new Set(newest.keys());
      for (const entry of registry.entries) {
        if (entry.yanked !== undefined || earlier.has(entry.toolId)) continue;
        const known = newest.get(entry.toolId);
        if (known !== undefined && !isBetter(entry.version, known.entry.version)) continue;
        const capabilities = new Set(entry.capabilities.map(fold));
        newest.set(entry.toolId, { registry, entry, capabilities });
      }
    }
    for (const [toolId, candidate] of [...newest].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      this.#candidates.set(toolId, candidate);
      this.#index.add(toDocument(candidate.entry));
    }
  }

  /**
   * Returns the packages that pass the filter, the best match first; without words, in the order of their ids.
   *
   * @param limit from 1 to 1,000
   * @throws {SearchError} for words that are too long
   */
  find(words: string, filter: PackageFilter, limit: number): readonly FoundPackage[] {
    const accepts = toPredicate(filter);
    if (words.trim() === "") {
      const all = [...this.#candidates.values()].filter(accepts).slice(0, limit);
      return all.map(({ registry, entry }) => ({ registry, entry, score: 0 }));
    }
    const hits = this.#index.search(words, {
      limit,
      filter: (id) => accepts(this.#candidates.get(id) as Candidate),
    });
    return hits.map(({ id, score }) => {
      const { registry, entry } = this.#candidates.get(id) as Candidate;
      return { registry, entry, score };
    });
  }
}

function toDocument({
  toolId,
  name,
  publisher,
  description,
  capabilities,
  tags,
  examples,
  tests,
}: IndexEntry) {
  return {
    id: toolId,
    name: toolId,
    title: name,
    namespace: publisher ?? "",
    description,
    tags: [...capabilities, ...tags],
    examples: [...tests, ...examples],
  };
}

/** Releases are better than pre-releases, and newer versions than older ones. */
function isBetter(version: string, known: string): boolean {
  const isRelease = semver.prerelease(version) === null;
  const isKnownRelease = semver.prerelease(known) === null;
  return isRelease === isKnownRelease ? semver.compareBuild(version, known) > 0 : isRelease;
}

function toPredicate({
  language,
  platform,
  capabilities = [],
  license,
}: PackageFilter): (candidate: Candidate) => boolean {
  const wanted = capabilities.map(fold);
  const inLanguage = language === undefined ? undefined : (aliases.get(fold(language)) ?? fold(language));
  const onPlatform = platform === undefined ? undefined : fold(platform);
  const underLicense = license === undefined ? undefined : fold(license);
  return ({ entry, capabilities: own }) =>
    wanted.every((one) => own.has(one)) &&
    (underLicense === undefined || licensesOf(entry).includes(underLicense)) &&
    runsIn(entry, inLanguage, onPlatform);
}

/** Other names of languages. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["js", "javascript"],
  ["node", "javascript"],
  ["nodejs", "javascript"],
  ["typescript", "javascript"],
  ["py", "python"],
  [".net", "dotnet"],
  ["c#", "dotnet"],
  ["csharp", "dotnet"],
]);

/** One implementation has both. Tools without implementations (chains) have no language, and run everywhere. */
function runsIn(
  { implementations }: IndexEntry,
  language: string | undefined,
  platform: string | undefined,
): boolean {
  if (language === undefined && (platform === undefined || implementations.length === 0)) return true;
  return implementations.some(
    (one) =>
      (language === undefined || fold(one.language ?? "") === language) &&
      (platform === undefined || one.platforms === undefined || one.platforms.includes(platform)),
  );
}

function licensesOf({ license = "" }: IndexEntry): readonly string[] {
  return [license, ...license.replace(/[()]/g, "").split(/\s+OR\s+/i)].map(fold);
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
