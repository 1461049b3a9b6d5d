/**
 * Writes files of the user, such as a configuration or a program. Replaces a file
 * atomically, keeps its permissions and owner, and follows symbolic links. Removes what
 * killed commands left beside it.
 */

import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { removeDrafts, replaceFile } from "@toolcrib/files";

/** Age in milliseconds after which the unfinished file of a killed command is abandoned. */
const draftLifeMs = 60_000;

/** Replaces the file at `path`, or creates it with mode 0644. @throws {FilesError} */
export async function writeUserFile(path: string, text: string): Promise<void> {
  await replaceFile({ randomBytes }, path, text, {
    mode: 0o644,
    keepPermissions: true,
    followSymlink: true,
  });
  await removeAbandonedDrafts(path);
}

/** Removes the unfinished files beside a file that was written; they are in the way of nothing, so that it never fails. */
export async function removeAbandonedDrafts(path: string): Promise<void> {
  const folder = dirname(await realpath(path).catch(() => path));
  await removeDrafts(folder, { writtenBeforeMs: Date.now() - draftLifeMs }).catch(() => {});
}
