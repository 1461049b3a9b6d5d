/**
 * Directories and files that only their owner can use. Windows has no permission
 * bits: the profile of the user protects its content there.
 */

import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { chmod, mkdir, stat } from "node:fs/promises";
import { FilesError } from "./files-error.ts";

/** Every bit of the group and of others. */
const othersBits = 0o077;

/** Returns whether permission bits give other users one of the rights in `forbidden`. Always `false` on Windows. */
export function isOpenToOthers(mode: number, forbidden: number = othersBits): boolean {
  return process.platform !== "win32" && (mode & forbidden) !== 0;
}

/**
 * Creates a directory and its missing parents with mode 0700. A directory that
 * exists and is open to others is closed to them.
 *
 * @throws {FilesError} `FILE_EXPOSED` when it is open to others and this process may not change that.
 * @throws the file system's error when it cannot be created.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // Node reports a read-only file system as a missing parent; without `recursive` it reports the reason.
    await mkdir(path, { mode: 0o700 });
  }
  if (!isOpenToOthers((await stat(path)).mode)) return;
  try {
    await chmod(path, 0o700);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "EPERM" && code !== "EROFS") throw cause;
    throw new FilesError("FILE_EXPOSED", `Cannot close "${path}" to other users of this machine: ${code}`, {
      cause,
      hint: `run chmod 700 '${path}' as its owner`,
    });
  }
}

/**
 * Creates an empty file with mode 0600, or closes an existing one to others.
 *
 * A file that exists is not opened: closing it would release the locks that this
 * process has on it (POSIX).
 *
 * @throws the file system's error.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (isOpenToOthers(statSync(path).mode)) chmodSync(path, 0o600);
  }
}
