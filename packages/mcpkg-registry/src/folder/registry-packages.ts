/**
 * Adds, withdraws and removes packages of a registry folder. A version never changes its content: a
 * client that has locked its digest would refuse it.
 */

import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { removeFile, replaceFile } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import { type OpenedPackage, openPackage } from "@toolcrib/mcpkg";
import semver from "semver";
import { archivePathOf, type IndexEntry, toEntry } from "../index/index-entry.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { changeRegistry, type FolderDeps, type RegistryFolder } from "./registry-folder.ts";

/** Exceptions that a registry accepts. */
export interface AddOptions {
  /** Accepts packages without a signature. @default false */
  readonly allowsUnsigned?: boolean;
  /** Accepts a version that is signed by another key than earlier versions. @default false */
  readonly allowsNewKey?: boolean;
}

/** The result of an addition. */
export interface AddedPackages {
  readonly registry: RegistryFolder;
  readonly added: readonly IndexEntry[];
  /** Versions that were there already, with the same content. */
  readonly present: readonly IndexEntry[];
  /** Warnings about the packages. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * Adds archives to a registry: all, or none.
 *
 * @param archives bytes of each archive, with a name for messages
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_PACKAGE_INVALID` with the findings in `data.diagnostics`, `MCPKG_REGISTRY_PACKAGE_UNSIGNED`, `MCPKG_REGISTRY_PUBLISHER_CHANGED`, `MCPKG_REGISTRY_VERSION_EXISTS`; as `changeRegistry`; {McpkgError} as `openPackage`
 */
export async function addPackages(
  deps: FolderDeps,
  folder: string,
  key: KeyObject,
  archives: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  options: AddOptions = {},
): Promise<AddedPackages> {
  const validator = new SchemaValidator();
  const warnings: Diagnostic[] = [];
  const opened: { readonly found: OpenedPackage; readonly bytes: Uint8Array }[] = [];
  for (const { name, bytes } of archives) {
    const { value, diagnostics } = await openPackage(bytes, validator);
    if (value === undefined || hasErrors(diagnostics)) throw invalidPackage(name, diagnostics);
    warnings.push(...diagnostics);
    opened.push({ found: value, bytes });
  }
  const added: IndexEntry[] = [];
  const present: IndexEntry[] = [];
  const registry = await changeRegistry(deps, folder, key, async (entries) => {
    let current = entries;
    const files: { readonly path: string; readonly bytes: Uint8Array }[] = [];
    for (const { found, bytes } of opened) {
      const entry = toEntry(found, bytes.length, new Date(deps.now()).toISOString());
      const same = sameVersion(current, entry);
      if (same !== undefined) present.push(same);
      else {
        requireAllowed(current, entry, options);
        current = [...current, entry];
        added.push(entry);
        files.push({ path: join(folder, archivePathOf(entry)), bytes });
      }
    }
    for (const { path, bytes } of files) {
      await replaceFile({ randomBytes: deps.randomBytes }, path, bytes, { mode: 0o644 });
    }
    return current;
  });
  return { registry, added, present, warnings };
}

/** Names one version of a package. */
export interface VersionName {
  readonly toolId: string;
  readonly version: string;
}

/**
 * Withdraws a version, or offers it again: ranges do not select it, and its exact version still does.
 *
 * @param reason a reason for people; undefined with `isYanked: false`
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_VERSION_NOT_FOUND`; as `changeRegistry`
 */
export function yankPackage(
  deps: FolderDeps,
  folder: string,
  key: KeyObject,
  {
    toolId,
    version,
    isYanked,
    reason,
  }: VersionName & { readonly isYanked: boolean; readonly reason?: string },
): Promise<RegistryFolder> {
  return changeRegistry(deps, folder, key, (entries) => {
    const entry = requireVersion(entries, { toolId, version }, folder);
    const { yanked: _yanked, ...offered } = entry;
    const at = new Date(deps.now()).toISOString();
    const changed: IndexEntry = isYanked
      ? { ...offered, yanked: { at, ...(reason === undefined ? {} : { reason }) } }
      : offered;
    return entries.map((one) => (one === entry ? changed : one));
  });
}

/**
 * Removes a version and its archive. Clients that locked it cannot get it any more.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_VERSION_NOT_FOUND`; as `changeRegistry`
 */
export async function removePackage(
  deps: FolderDeps,
  folder: string,
  key: KeyObject,
  name: VersionName,
): Promise<RegistryFolder> {
  const registry = await changeRegistry(deps, folder, key, (entries) => {
    const entry = requireVersion(entries, name, folder);
    return entries.filter((one) => one !== entry);
  });
  await removeFile(join(folder, archivePathOf(name)));
  return registry;
}

function requireVersion(
  entries: readonly IndexEntry[],
  { toolId, version }: VersionName,
  folder: string,
): IndexEntry {
  const entry = entries.find((one) => one.toolId === toolId && one.version === version);
  if (entry !== undefined) return entry;
  const versions = entries.filter((one) => one.toolId === toolId).map((one) => one.version);
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_VERSION_NOT_FOUND",
    `"${folder}" has no ${toolId} ${version}`,
    {
      hint: versions.length === 0 ? `it has no version of ${toolId}` : `it has ${versions.join(", ")}`,
    },
  );
}

/** Returns the entry of the same version with the same content. */
function sameVersion(entries: readonly IndexEntry[], entry: IndexEntry): IndexEntry | undefined {
  // Versions that differ in their build or in the case of letters would be one file, or one version, somewhere.
  const other = entries.find(
    (one) =>
      one.toolId === entry.toolId &&
      (semver.eq(one.version, entry.version) || one.version.toLowerCase() === entry.version.toLowerCase()),
  );
  if (other === undefined) return undefined;
  if (other.version === entry.version && other.digest === entry.digest) return other;
  const difference = other.version === entry.version ? "with other contents" : `as ${other.version}`;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_VERSION_EXISTS",
    `Cannot add ${entry.toolId} ${entry.version}: the registry has this version already, ${difference} (${other.digest})`,
    { hint: "raise the version in manifest.json, and pack it again" },
  );
}

function requireAllowed(entries: readonly IndexEntry[], entry: IndexEntry, options: AddOptions): void {
  const { toolId, version, publisherKey } = entry;
  const known = entries
    .filter((one) => one.toolId === toolId)
    .toSorted((one, other) => semver.compareBuild(other.version, one.version))
    .find((one) => one.publisherKey !== undefined);
  if (publisherKey === undefined && (options.allowsUnsigned !== true || known !== undefined)) {
    const before = known === undefined ? "" : `, and ${known.version} is signed by ${known.publisherKey}`;
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_PACKAGE_UNSIGNED",
      `Cannot add ${toolId} ${version}: it is not signed${before}`,
      {
        hint:
          known === undefined
            ? "sign it with: toolcrib sign FILE, or accept it with --allow-unsigned"
            : "sign it with: toolcrib sign FILE",
      },
    );
  }
  if (known === undefined || known.publisherKey === publisherKey || options.allowsNewKey === true) return;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_PUBLISHER_CHANGED",
    `Cannot add ${toolId} ${version}: it is signed by ${publisherKey}, and ${known.version} by ${known.publisherKey}`,
    { hint: "sign it with the key of the earlier versions, or accept the new key with --allow-new-key" },
  );
}

function invalidPackage(name: string, diagnostics: readonly Diagnostic[]): McpkgRegistryError {
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  return new McpkgRegistryError(
    "MCPKG_REGISTRY_PACKAGE_INVALID",
    `Cannot add "${name}": it has ${count} error(s)`,
    {
      data: { diagnostics },
    },
  );
}
