/**
 * Gets the archive of a package from where it is and opens it: everything is checked before
 * anything is written. A folder is packed in memory first, so that there is one way in.
 */

import { stat } from "node:fs/promises";
import { type Diagnostic, hasErrors, isCodedError } from "@toolcrib/diagnostics";
import { errnoOf, readRegularFile, reasonOf } from "@toolcrib/files";
import type { SchemaValidator } from "@toolcrib/json";
import {
  McpkgError,
  type OpenedPackage,
  openPackage,
  packageMaxBytes,
  readPackageFolder,
  type ToolPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import type { PackageResolver, ResolvedPackage } from "../package-resolver.ts";
import { isVersion } from "../version-order.ts";
import type { GivenSource } from "./parse-source.ts";

/** Fetches the bytes of a URL, at most `maxBytes`. @throws a `CodedError`, and the reason of `signal`. */
export type FetchBytes = (
  url: string,
  options: { readonly signal: AbortSignal; readonly maxBytes: number },
) => Promise<Uint8Array>;

/** Dependencies for opening sources. */
export interface SourceDeps {
  readonly validator: SchemaValidator;
  /** Returns further findings about a package, such as those about its programs. @default none */
  readonly inspect?: ((found: ToolPackage) => readonly Diagnostic[]) | undefined;
  readonly fetchBytes: FetchBytes;
  /** @default toolIds cannot be installed */
  readonly resolver?: PackageResolver | undefined;
}

/** A package that was opened and checked by itself, and where it came from. */
export interface OpenedSource {
  readonly opened: OpenedPackage;
  readonly from: "file" | "folder" | "url" | "registry";
  /** For the record: an absolute path, a URL, or `toolId@range`. */
  readonly source: string;
  /** The registry that `source` was found in. */
  readonly registry: string | undefined;
  /** The key that the registry states. */
  readonly statedKey: string | undefined;
}

/**
 * Opens a source.
 *
 * @throws {InstallError} `INSTALL_SOURCE_UNUSABLE`, `INSTALL_NO_REGISTRY`, `INSTALL_PACKAGE_NOT_FOUND`,
 *   `INSTALL_PACKAGE_INVALID`, `INSTALL_DIGEST_MISMATCH`
 * @throws {McpkgError} for an archive that is refused; the errors of `fetchBytes` and of the resolver.
 */
export async function openSource(
  deps: SourceDeps,
  given: GivenSource,
  signal: AbortSignal,
): Promise<OpenedSource> {
  signal.throwIfAborted();
  switch (given.kind) {
    case "path":
      return openPath(deps, given);
    case "url": {
      const bytes = await deps.fetchBytes(given.url, { signal, maxBytes: packageMaxBytes });
      const opened = await openBytes(deps, bytes, given.shown);
      return { opened, from: "url", source: given.url, registry: undefined, statedKey: undefined };
    }
    case "registry":
      return openFromRegistry(deps, given, signal);
  }
}

async function openPath(
  deps: SourceDeps,
  given: GivenSource & { readonly kind: "path" },
): Promise<OpenedSource> {
  const { path, shown } = given;
  const shared = { source: path, registry: undefined, statedKey: undefined };
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (cause) {
    const isMissing = errnoOf(cause) === "ENOENT";
    throw unusable(shown, isMissing ? "there is no such file or folder" : reasonOf(cause), cause);
  }
  if (isFolder) {
    const { files } = await readPackageFolder(path);
    return { ...shared, opened: await openBytes(deps, writeArchive(files), shown), from: "folder" };
  }
  const { bytes } = await readRegularFile(path, packageMaxBytes).catch((cause: unknown) => {
    throw unusable(shown, reasonOf(cause), cause);
  });
  return { ...shared, opened: await openBytes(deps, bytes, shown), from: "file" };
}

async function openFromRegistry(
  deps: SourceDeps,
  { toolId, range, shown }: GivenSource & { readonly kind: "registry" },
  signal: AbortSignal,
): Promise<OpenedSource> {
  const { resolver } = deps;
  if (resolver === undefined) {
    throw new InstallError("INSTALL_NO_REGISTRY", `Cannot install "${shown}": no registry is configured`, {
      hint: `add registries to toolcrib.yaml, or name one with --registry; ./${toolId} is the folder of this name`,
    });
  }
  const resolved = await resolver.resolve(toolId, range, signal);
  if (resolved === undefined) {
    const wanted = range === "*" ? toolId : `${toolId} with a version in ${range}`;
    throw new InstallError("INSTALL_PACKAGE_NOT_FOUND", `${resolver.place} has no package ${wanted}`, {
      hint: `search with: toolcrib registry search ${toolId}; pre-releases and withdrawn versions must be named exactly`,
    });
  }
  const opened = await openResolved(deps, resolved, shown, resolver.place);
  const { manifest } = opened;
  if (manifest.toolId !== toolId || manifest.version !== resolved.version) {
    throw new InstallError(
      "INSTALL_DIGEST_MISMATCH",
      `Cannot install "${shown}": ${resolver.place} gave ${manifest.toolId} ${manifest.version} as ${toolId} ${resolved.version}`,
    );
  }
  return {
    opened,
    from: "registry",
    source: `${toolId}@${range}`,
    registry: resolver.place,
    statedKey: resolved.publisherKey,
  };
}

async function openResolved(
  deps: SourceDeps,
  resolved: ResolvedPackage,
  shown: string,
  place: string,
): Promise<OpenedPackage> {
  const opened = await openBytes(deps, await resolved.fetch(), shown);
  if (opened.digest === resolved.digest) return opened;
  throw new InstallError(
    "INSTALL_DIGEST_MISMATCH",
    `Cannot install "${shown}": ${place} states the digest ${resolved.digest}, and the archive has ${opened.digest}`,
    { hint: "the archive was changed or damaged; do not use this registry until you know why" },
  );
}

async function openBytes(
  { validator, inspect }: SourceDeps,
  bytes: Uint8Array,
  shown: string,
): Promise<OpenedPackage> {
  const { value, diagnostics: found } = await openPackage(bytes, validator).catch((error: unknown) => {
    if (!(error instanceof McpkgError)) throw error;
    const { code, message, hint } = error;
    throw new McpkgError(code, `${message} ("${shown}" is not installed)`, {
      cause: error,
      ...(hint && { hint }),
    });
  });
  if (value !== undefined && !isVersion(value.manifest.version)) {
    const message = `Cannot install "${shown}": its version ${value.manifest.version} has a number that is too large`;
    throw new InstallError("INSTALL_PACKAGE_INVALID", message);
  }
  const diagnostics = [...found, ...(value === undefined ? [] : (inspect?.(value) ?? []))];
  if (value !== undefined && !hasErrors(diagnostics)) return value;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  throw new InstallError(
    "INSTALL_PACKAGE_INVALID",
    `Cannot install "${shown}": the package has ${errors.length} error(s), the first is: ${errors[0]?.message}`,
    { data: { diagnostics } },
  );
}

function unusable(shown: string, reason: string, cause: unknown): InstallError {
  if (isCodedError(cause)) throw cause;
  return new InstallError("INSTALL_SOURCE_UNUSABLE", `Cannot read "${shown}": ${reason}`, { cause });
}
