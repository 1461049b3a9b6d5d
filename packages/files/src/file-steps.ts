/**
 * The file system operations by which this package changes a disk. Each is one
 * step that can fail, or be the last one of a process that is killed, so that a
 * test can inject a failure or a kill at every step. Errors are Node's, with
 * their `code`. Nothing here decides anything.
 */

import { constants } from "node:fs";
import { link, mkdir, open, rename, rmdir, unlink } from "node:fs/promises";

/** Permission bits, owner and group of a file. */
export interface Permissions {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file that is being written and is not visible under its final name. */
export interface Draft {
  /** Writes after what was written before. */
  write(bytes: Uint8Array): Promise<void>;
  /** Sets the modification time, in milliseconds since the epoch. */
  setModified(atMs: number): Promise<void>;
  setPermissions(permissions: Permissions): Promise<void>;
  /** Waits until the content is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The steps of a change. */
export interface FileSteps {
  /** Creates a file that does not exist yet (`EEXIST`), without following a link. */
  create(path: string, mode: number): Promise<Draft>;
  /** Renames a file in one step, over an existing one. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, which must not exist yet (`EEXIST`). */
  link(path: string, name: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Creates a directory that does not exist yet (`EEXIST`), in one that exists. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Removes an empty directory (`ENOTEMPTY`). */
  removeDirectory(path: string): Promise<void>;
  /** Waits until the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

// Windows has no O_NOFOLLOW.
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** The steps on Node's file system. */
export const nodeFileSteps: FileSteps = {
  async create(path, mode) {
    const file = await open(path, createFlags, mode);
    return {
      write: (bytes) => file.writeFile(bytes),
      setModified: (atMs) => file.utimes(atMs / 1000, atMs / 1000),
      async setPermissions({ mode: wanted, uid, gid }) {
        // A change of the owner clears setuid and setgid, and the mode must never be
        // wider for the wrong group, so the owner comes first.
        const isOwned = await file.chown(uid, gid).then(
          () => true,
          (error: unknown) => {
            if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
            return false;
          },
        );
        await file.chmod(isOwned ? wanted : wanted & ~groupBits);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  rename,
  link,
  remove: unlink,
  makeDirectory: (path, mode) => mkdir(path, { mode }),
  removeDirectory: rmdir,
  async syncDirectory(path) {
    // Windows cannot open a directory; its file systems order these changes themselves.
    if (process.platform === "win32") return;
    await using directory = await open(path, constants.O_RDONLY);
    await directory.sync();
  },
};

const groupBits = 0o070;
