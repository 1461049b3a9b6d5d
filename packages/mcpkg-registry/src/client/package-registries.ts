/**
 * The registries of a configuration together, in their order. A package comes from the first registry
 * that has its toolId, whatever versions others have: nobody can put a higher version of a private
 * package into a public registry. For the same reason an earlier registry that cannot be read is an
 * error, and not skipped.
 */

import { SchemaValidator } from "@toolcrib/json";
import { digestArchive, openPackage } from "@toolcrib/mcpkg";
import semver from "semver";
import { archivePathOf, type IndexEntry } from "../index/index-entry.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import {
  allEntriesMaxCount,
  archiveTimeoutMs,
  indexesMaxBytes,
  registriesMaxCount,
} from "../registry-limits.ts";
import { type FoundPackage, type PackageFilter, PackageSearch } from "../search/package-search.ts";
import {
  type OpenedRegistry,
  type OpenOptions,
  openRegistry,
  type RegistryDeps,
  type RegistrySource,
} from "./open-registry.ts";
import { readRegistryFile } from "./read-registry-file.ts";
import { showPlace } from "./registry-place.ts";

/** A registry that cannot be used. */
export interface FailedRegistry {
  readonly source: RegistrySource;
  readonly error: McpkgRegistryError;
}

/** A version that was selected. */
export interface ResolvedVersion {
  readonly toolId: string;
  readonly version: string;
  /** Digest of the archive, as `digestArchive` gives it. */
  readonly digest: string;
  /** Id of the key that signed the package; undefined for an unsigned one. */
  readonly publisherKey: string | undefined;
  readonly entry: IndexEntry;
  readonly registry: OpenedRegistry;
  /** URL or path of the archive, for records. */
  readonly place: string;
  /**
   * Reads the archive.
   *
   * @throws {McpkgRegistryError} `MCPKG_REGISTRY_DIGEST_MISMATCH` for anything else than what the index names; as `readRegistryFile`
   */
  fetch(): Promise<Uint8Array>;
}

/** Registries whose indexes were read. */
export class PackageRegistries {
  readonly opened: readonly OpenedRegistry[];
  readonly failed: readonly FailedRegistry[];
  readonly #sources: readonly RegistrySource[];
  readonly #deps: RegistryDeps;
  readonly #options: OpenOptions;
  #search: PackageSearch | undefined;

  constructor(
    deps: RegistryDeps,
    options: OpenOptions,
    results: {
      readonly sources: readonly RegistrySource[];
      readonly opened: readonly OpenedRegistry[];
      readonly failed: readonly FailedRegistry[];
    },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#sources = results.sources;
    this.opened = results.opened;
    this.failed = results.failed;
  }

  /** Returns the packages that match, the best first. Only registries that could be read are searched. */
  search(words: string, filter: PackageFilter, limit: number): readonly FoundPackage[] {
    this.#search ??= new PackageSearch(this.opened);
    return this.#search.find(words, filter, limit);
  }

  /**
   * Returns the versions of a package in the registry that it comes from, the newest first.
   *
   * @throws {McpkgRegistryError} `MCPKG_REGISTRY_PACKAGE_NOT_FOUND`; the error of an earlier registry that could not be read
   */
  versionsOf(toolId: string): {
    readonly registry: OpenedRegistry;
    readonly versions: readonly IndexEntry[];
  } {
    for (const source of this.#sources) {
      const failure = this.failed.find((one) => one.source === source);
      if (failure !== undefined) throw failure.error;
      const registry = this.opened.find((one) => one.source === source);
      const versions = registry?.entries.filter((entry) => entry.toolId === toolId) ?? [];
      if (registry === undefined || versions.length === 0) continue;
      return {
        registry,
        versions: versions.toSorted((one, other) => semver.compareBuild(other.version, one.version)),
      };
    }
    const names = this.#sources.map(({ name }) => name).join(", ");
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_PACKAGE_NOT_FOUND",
      `No registry has the package ${toolId}`,
      {
        hint: `registries that were searched: ${names === "" ? "none" : names}`,
      },
    );
  }

  /**
   * Selects a version: the newest in the range that is not withdrawn. A range that names one version gets
   * it even if it is withdrawn. Pre-releases are selected as npm does: where the range names one of the same version.
   *
   * @param range a range of SemVer such as `^1.2`; empty, `*` or `latest` for the newest release, or the newest pre-release where there is no release
   * @throws {McpkgRegistryError} `MCPKG_REGISTRY_RANGE_INVALID`, `MCPKG_REGISTRY_VERSION_NOT_FOUND`; as `versionsOf`
   */
  resolve(toolId: string, range: string): ResolvedVersion {
    const { registry, versions } = this.versionsOf(toolId);
    const entry = select(toolId, range, versions, registry);
    return {
      toolId,
      version: entry.version,
      digest: entry.digest,
      publisherKey: entry.publisherKey,
      entry,
      registry,
      place: placeOf(registry, entry),
      fetch: () => this.fetch(registry, entry),
    };
  }

  /**
   * Reads the archive of an entry.
   *
   * @throws {McpkgRegistryError} as `ResolvedVersion.fetch`
   */
  async fetch(registry: OpenedRegistry, entry: IndexEntry): Promise<Uint8Array> {
    const { source } = registry;
    const { signal, archiveTimeoutMs: timeoutMs = archiveTimeoutMs } = this.#options;
    const file = await readRegistryFile(source.place, this.#deps.send, {
      path: archivePathOf(entry),
      maxBytes: entry.bytes,
      timeoutMs,
      signal,
    });
    const bytes = file.kind === "read" ? file.bytes : new Uint8Array();
    const digest = digestArchive(bytes);
    if (digest !== entry.digest)
      throw mismatch(entry, source, `it has the digest ${digest}, and the index names ${entry.digest}`);
    await requireSamePackage(entry, source, bytes);
    return bytes;
  }
}

/**
 * Reads the indexes of `sources`. A registry that cannot be used does not keep the others from being used for a search.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_TOO_LARGE` for registries that are too large together; the reason of the signal
 */
export async function openRegistries(
  deps: RegistryDeps,
  sources: readonly RegistrySource[],
  options: OpenOptions,
): Promise<PackageRegistries> {
  if (sources.length > registriesMaxCount) {
    throw tooLarge(`${sources.length} registries; at most ${registriesMaxCount} are allowed`);
  }
  const opened: OpenedRegistry[] = [];
  const failed: FailedRegistry[] = [];
  let bytes = 0;
  let count = 0;
  // One after the other, so that the sum of all is known before the next one is read.
  for (const source of sources) {
    try {
      const registry = await openRegistry(deps, source, options);
      bytes += registry.bytes;
      count += registry.entries.length;
      opened.push(registry);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof McpkgRegistryError)) throw error;
      failed.push({ source, error });
    }
    if (bytes > indexesMaxBytes) throw tooLarge(`${bytes} bytes; at most ${indexesMaxBytes} are allowed`);
    if (count > allEntriesMaxCount)
      throw tooLarge(`${count} versions; at most ${allEntriesMaxCount} are allowed`);
  }
  return new PackageRegistries(deps, options, { sources, opened, failed });
}

function select(
  toolId: string,
  range: string,
  versions: readonly IndexEntry[],
  registry: OpenedRegistry,
): IndexEntry {
  const wanted = range.trim();
  const exact = versions.find(({ version }) => version === wanted.replace(/^[=v]+/, ""));
  if (exact !== undefined) return exact;
  const offered = versions.filter(({ yanked }) => yanked === undefined);
  const found =
    wanted === "" || wanted === "*" || wanted === "latest"
      ? (offered.find(({ version }) => semver.prerelease(version) === null) ?? offered[0])
      : offered.find(({ version }) => semver.satisfies(version, requireRange(toolId, wanted)));
  if (found !== undefined) return found;
  const shown = versions
    .slice(0, 10)
    .map(({ version, yanked }) => (yanked === undefined ? version : `${version} (withdrawn)`));
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_VERSION_NOT_FOUND",
    `The registry "${registry.source.name}" has no version of ${toolId} in the range "${wanted}"`,
    {
      hint: `it has ${shown.join(", ")}${versions.length > shown.length ? ", …" : ""}; a withdrawn version or a pre-release must be named exactly`,
    },
  );
}

function requireRange(toolId: string, range: string): string {
  if (range.length <= 200 && semver.validRange(range) !== null) return range;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_RANGE_INVALID",
    `Cannot resolve ${toolId}@${range.slice(0, 100)}: it is not a range of SemVer`,
    {
      hint: "write a version such as 1.2.0, or a range such as ^1.2 or >=1.0 <3",
    },
  );
}

/** The index says what is in the archive: it must be true, because search and people decided by it. */
async function requireSamePackage(
  entry: IndexEntry,
  source: RegistrySource,
  bytes: Uint8Array,
): Promise<void> {
  const { value } = await openPackage(bytes, new SchemaValidator());
  if (value === undefined) throw mismatch(entry, source, "the package has errors");
  const { manifest, signature } = value;
  if (manifest.toolId !== entry.toolId || manifest.version !== entry.version) {
    throw mismatch(entry, source, `it contains ${manifest.toolId} ${manifest.version}`);
  }
  const signer = signature.kind === "signed" ? signature.keyId : undefined;
  if (signer !== entry.publisherKey) {
    throw mismatch(
      entry,
      source,
      `it is ${signer === undefined ? "not signed" : `signed by ${signer}`}, and the index names ${entry.publisherKey ?? "no key"}`,
    );
  }
}

function mismatch(entry: IndexEntry, source: RegistrySource, reason: string): McpkgRegistryError {
  return new McpkgRegistryError(
    "MCPKG_REGISTRY_DIGEST_MISMATCH",
    `The archive of ${entry.toolId} ${entry.version} from the registry "${source.name}" is not used: ${reason}`,
    { hint: "its operator checks it with: toolcrib registry verify FOLDER" },
  );
}

function placeOf({ source: { place } }: OpenedRegistry, entry: IndexEntry): string {
  const path = archivePathOf(entry);
  return place.kind === "url"
    ? new URL(path.replaceAll("+", "%2B"), place.url).href
    : `${showPlace(place)}/${path}`;
}

function tooLarge(found: string): McpkgRegistryError {
  return new McpkgRegistryError(
    "MCPKG_REGISTRY_TOO_LARGE",
    `The registries together are too large: ${found}`,
    {
      hint: "name fewer of them, with --registry",
    },
  );
}
