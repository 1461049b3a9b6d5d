/**
 * Putting a file in a directory, or taking it out, so that whoever looks sees
 * the old state or the new one and never a mixture, also after a crash: a draft
 * beside it, synced, takes its place, and then the directory is synced. Drafts
 * of writers that were killed are found by their names.
 */

import { join } from "node:path";
import { MetatoolError } from "../metatool-error.ts";
import { errnoOf, type SavedFiles } from "./saved-files.ts";

/** What writing needs of the world. */
export interface ReplaceDeps {
  readonly files: SavedFiles;
  /** Unpredictable bytes, as `randomBytes` of `node:crypto` gives them. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A file as it shall be. */
export interface Replacement {
  readonly fileName: string;
  readonly text: string;
  /** The time of its last change, in milliseconds since the epoch. @default now */
  readonly modifiedAtMs?: number;
  /** Asked when nothing is left to do but the replacement itself; `false` gives it up. @default yes */
  readonly isStillWanted?: () => Promise<boolean>;
}

const draftPattern = /^\.[0-9a-f]{32}\.draft$/;

/**
 * Write a file whole. The directory must be locked: another writer's draft is
 * taken for a dead one's.
 *
 * @returns whether it was written; `false` when it was not wanted any more.
 * @throws {MetatoolError} `METATOOL_UNWRITABLE`, with the old file in place; `METATOOL_NOT_DURABLE`, with the new one.
 */
export async function replaceFile(
  { files, randomBytes }: ReplaceDeps,
  directory: string,
  { fileName, text, modifiedAtMs, isStillWanted }: Replacement,
): Promise<boolean> {
  const path = join(directory, fileName);
  const draft = join(directory, `.${Buffer.from(randomBytes(16)).toString("hex")}.draft`);
  try {
    const file = await files.create(draft);
    try {
      await file.write(Buffer.from(text));
      if (modifiedAtMs !== undefined) await file.setModified(modifiedAtMs);
      await file.sync();
    } finally {
      await file.close();
    }
    if (isStillWanted !== undefined && !(await isStillWanted())) {
      await files.remove(draft);
      return false;
    }
    await files.rename(draft, path);
  } catch (cause) {
    // Where it cannot be removed either, whoever opens the directory next does it.
    await files.remove(draft).catch(() => undefined);
    throw toUnwritable(path, cause);
  }
  await syncNames(files, directory, path);
  return true;
}

/**
 * Remove a file.
 *
 * @throws {MetatoolError} `METATOOL_UNWRITABLE`, with the file in place; `METATOOL_NOT_DURABLE`, without it.
 */
export async function removeFile(
  { files }: Pick<ReplaceDeps, "files">,
  directory: string,
  fileName: string,
): Promise<void> {
  const path = join(directory, fileName);
  try {
    await files.remove(path);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return;
    throw toUnwritable(path, cause);
  }
  await syncNames(files, directory, path);
}

/**
 * Remove the drafts of writers that were killed. The directory must be locked.
 *
 * @throws {MetatoolError} `METATOOL_UNWRITABLE`, `METATOOL_NOT_DURABLE`.
 */
export async function removeDrafts(files: SavedFiles, directory: string): Promise<void> {
  const names = await files.list(directory).catch((cause: unknown) => {
    throw toUnwritable(directory, cause);
  });
  for (const name of names) {
    if (draftPattern.test(name)) await removeFile({ files }, directory, name);
  }
}

async function syncNames(files: SavedFiles, directory: string, path: string): Promise<void> {
  try {
    await files.syncDirectory(directory);
  } catch (cause) {
    throw new MetatoolError(
      "METATOOL_NOT_DURABLE",
      `Changed "${path}", but the disk did not confirm that it lasts: ${reasonOf(cause)}`,
      { cause, hint: "Check the disk; after a power failure the file may be as it was before" },
    );
  }
}

/** The error for a change that could not be made to what is at `path`. */
export function toUnwritable(path: string, cause: unknown): MetatoolError {
  const errno = errnoOf(cause);
  return new MetatoolError("METATOOL_UNWRITABLE", `Cannot write "${path}": ${reasonOf(cause)}`, {
    cause,
    hint: hintFor(errno),
    data: { errno },
  });
}

/** Why the file system refused something, for people. */
export function reasonOf(cause: unknown): string {
  const errno = errnoOf(cause);
  return (errno === undefined ? undefined : reasons[errno]) ?? errno ?? (cause as Error).message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EACCES: "permission denied (EACCES)",
  EPERM: "permission denied (EPERM)",
  EROFS: "the file system can only be read (EROFS)",
  ENOENT: "it does not exist (ENOENT)",
  ENOTDIR: "a part of its path is not a directory (ENOTDIR)",
};

function hintFor(errno: string | undefined): string | undefined {
  if (errno === "ENOSPC" || errno === "EDQUOT") return "Free some space and try again; nothing was changed";
  if (errno === "EACCES" || errno === "EPERM" || errno === "EROFS")
    return "Give the user who runs toolcrib write access to the directory; nothing was changed";
  return undefined;
}
