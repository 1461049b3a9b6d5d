/** The files of a package as the record has them. Pure. */

import { hash } from "node:crypto";
import type { PackageFiles } from "@toolcrib/mcpkg";
import type { RecordedFile } from "./install-record.ts";

/** Returns the files with their digests, in the order of their paths. */
export function toRecordedFiles(files: PackageFiles): readonly RecordedFile[] {
  return [...files]
    .map(([path, { bytes, isExecutable }]) => ({
      path,
      bytes: bytes.length,
      sha256: hash("sha256", bytes, "hex"),
      isExecutable,
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
