/**
 * Whole directories: written to a place that nobody reads yet, renamed in one step, removed.
 * When a function returns, its change is on the disk. Follows no symbolic link: a link is removed or renamed itself.
 */

import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Draft, type FileSteps, nodeFileSteps } from "./file-steps.ts";
import { errnoOf } from "./files-error.ts";
import { toUnwritable } from "./replace-file.ts";

/** A file of a directory that is written. */
export interface DirectoryFile {
  readonly bytes: Uint8Array;
  /** Permission bits; the umask of the process may clear some. */
  readonly mode: number;
}

/** Permission bits of the directories that are written; the umask may clear some. */
const directoryMode = 0o755;

/** Files that wait for the disk at the same time: one write of the disk can confirm several. */
const syncsAtATime = 16;

/**
 * Creates the directory `path`, which must not exist, with `files`. A process that fails or is killed leaves a part of
 * it: the caller writes to a place that is not read, and renames it with `moveDirectory`.
 *
 * @param files by relative path, with `/` between the parts; no part is empty, `.` or `..`.
 * @throws {FilesError} `FILE_UNWRITABLE`
 */
export async function writeDirectory(
  path: string,
  files: ReadonlyMap<string, DirectoryFile>,
  steps: FileSteps = nodeFileSteps,
): Promise<void> {
  try {
    const below = new Set<string>();
    for (const name of files.keys()) {
      const parts = name.split("/");
      for (let count = 1; count < parts.length; count += 1) below.add(join(...parts.slice(0, count)));
    }
    const directories = [path, ...[...below].toSorted().map((one) => join(path, one))];
    for (const directory of directories) await steps.makeDirectory(directory, directoryMode);
    const entries = [...files];
    for (let at = 0; at < entries.length; at += syncsAtATime) {
      await writeFiles(path, entries.slice(at, at + syncsAtATime), steps);
    }
    for (const directory of directories.toReversed()) await steps.syncDirectory(directory);
    await steps.syncDirectory(dirname(path));
  } catch (cause) {
    throw toUnwritable(path, cause);
  }
}

async function writeFiles(
  path: string,
  files: readonly (readonly [string, DirectoryFile])[],
  steps: FileSteps,
): Promise<void> {
  const created: Draft[] = [];
  try {
    for (const [name, { bytes, mode }] of files) {
      const file = await steps.create(join(path, ...name.split("/")), mode);
      created.push(file);
      await file.write(bytes);
    }
    await Promise.all(created.map((file) => file.sync()));
  } finally {
    await Promise.allSettled(created.map((file) => file.close()));
  }
}

/**
 * Renames a directory to a name that does not exist, on the same file system.
 *
 * @throws {FilesError} `FILE_UNWRITABLE`
 */
export async function moveDirectory(
  from: string,
  to: string,
  steps: FileSteps = nodeFileSteps,
): Promise<void> {
  try {
    await steps.rename(from, to);
    await steps.syncDirectory(dirname(to));
    if (dirname(from) !== dirname(to)) await steps.syncDirectory(dirname(from));
  } catch (cause) {
    throw toUnwritable(to, cause);
  }
}

/**
 * Removes a directory with everything in it, or a file or link of this name. A path that does not exist is no error.
 *
 * @throws {FilesError} `FILE_UNWRITABLE`
 */
export async function removeDirectory(path: string, steps: FileSteps = nodeFileSteps): Promise<void> {
  try {
    if (await removeTree(path, steps)) await steps.syncDirectory(dirname(path));
  } catch (cause) {
    throw toUnwritable(path, cause);
  }
}

async function removeTree(path: string, steps: FileSteps): Promise<boolean> {
  let isDirectory: boolean;
  try {
    isDirectory = (await lstat(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
  if (!isDirectory) {
    await steps.remove(path);
    return true;
  }
  for (const name of await readdir(path)) await removeTree(join(path, name), steps);
  await steps.removeDirectory(path);
  return true;
}
