/**
 * Writes files of the user, such as a configuration or a program. A file is
 * replaced whole, keeps its permissions and its owner, and is replaced at the
 * end of its symbolic links.
 */

import { randomBytes } from "node:crypto";
import { replaceFile } from "@toolcrib/files";

/** Replace the file at `path`, or create it with mode 0644. @throws {FilesError} */
export async function writeUserFile(path: string, text: string): Promise<void> {
  await replaceFile({ randomBytes }, path, text, {
    mode: 0o644,
    keepPermissions: true,
    followSymlink: true,
  });
}
