/** The names of an archive: its digest and its file name. */

import { hash } from "node:crypto";
import type { Manifest } from "./manifest/manifest-shape.ts";
/** Returns the digest of an archive, such as `sha256:…`. */
export function digestArchive(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

/** Returns the file name of the archive of a package (MCPKG document, Package Layout). */
export function archiveNameOf({ toolId, version }: Pick<Manifest, "toolId" | "version">): string {
  return `${toolId}-${version}.mcpkg`;
}
