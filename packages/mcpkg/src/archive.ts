/** The archive of a package: its bytes, its digest, and its file name. */

import { hash } from "node:crypto";
import type { Manifest } from "./manifest/manifest-shape.ts";
import type { PackageFiles } from "./package-files.ts";
import { type PackageLimits, resolvePackageLimits } from "./package-limits.ts";
import { readZip } from "./zip/read-zip.ts";
import { writeZip } from "./zip/write-zip.ts";

/** Returns the archive of `files`: the same bytes for the same files on every machine. */
export function writeArchive(files: PackageFiles): Uint8Array {
  return writeZip(files);
}

/**
 * Returns the files of an archive, which may be hostile.
 *
 * @throws {McpkgError} `MCPKG_ARCHIVE_INVALID`, `MCPKG_ARCHIVE_TOO_LARGE`, `MCPKG_PATH_INVALID`
 */
export function readArchive(bytes: Uint8Array, limits: PackageLimits = {}): Promise<PackageFiles> {
  return readZip(bytes, resolvePackageLimits(limits));
}

/** Returns the digest of an archive, such as `sha256:…`. */
export function digestArchive(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

/** Returns the file name of the archive of a package (MCPKG document, Package Layout). */
export function archiveNameOf({ toolId, version }: Manifest): string {
  return `${toolId}-${version}.mcpkg`;
}
