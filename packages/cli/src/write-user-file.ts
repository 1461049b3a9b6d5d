/**
 * Writes files of the user, such as a configuration or a program. Replaces a file
 * atomically, keeps its permissions and owner, and follows symbolic links.
 */

import { randomBytes } from "node:crypto";
import { replaceFile } from "@toolcrib/files";

/** Replaces the file at `path`, or creates it with mode 0644. @throws {FilesError} */
export async function writeUserFile(path: string, text: string): Promise<void> {
  await replaceFile({ randomBytes }, path, text, {
    mode: 0o644,
    keepPermissions: true,
    followSymlink: true,
  });
}
