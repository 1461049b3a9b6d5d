/**
 * The file operations of the store of saved tools. Each is one step that can fail or
 * be the last one of a process, so that a test can inject failures. Errors are
 * Node's, with their `code`. Nothing here decides anything.
 */

import { type BigIntStats, constants, watch } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { errnoOf, type FileSteps, FilesError, makePrivateDirectory, nodeFileSteps } from "@toolcrib/files";

/** The status of a path, without following a link. */
export interface FileStatus {
  readonly kind: "file" | "directory" | "link" | "other";
  /** Identifies the file, independent of its content and its name. */
  readonly identity: string;
  /** Changes with every change of the file. */
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

/** The result of reading a file. */
export type FileContent =
  | { readonly kind: "content"; readonly bytes: Uint8Array; readonly status: FileStatus }
  | { readonly kind: "too-large" }
  | { readonly kind: "not-a-file" };

/** The file system of `openSavedToolStore`. */
export interface SavedFiles extends FileSteps {
  /** Creates a directory and its parents with mode 0700. An existing directory of this user is closed to others. */
  makeDirectory(path: string): Promise<void>;
  /** Returns the names in a directory. */
  list(path: string): Promise<readonly string[]>;
  /** Returns the status of a path; `undefined` when it does not exist. */
  status(path: string): Promise<FileStatus | undefined>;
  /** Returns the path with all links resolved. */
  resolve(path: string): Promise<string>;
  /** Reads content and status of one file. Never follows a link, and never waits for a pipe. */
  read(path: string, maxBytes: number): Promise<FileContent>;
  /**
   * Watches a directory until disposed.
   *
   * @returns `undefined` where that is not possible.
   */
  watch(path: string, onEvent: () => void, onEnd: () => void): Disposable | undefined;
}

// Windows has neither flag.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Node's file system. */
export const nodeFiles: SavedFiles = {
  ...nodeFileSteps,
  async makeDirectory(path) {
    try {
      await makePrivateDirectory(path);
    } catch (error) {
      // It belongs to another user, or its disk is read-only: it can still be read.
      if (!(error instanceof FilesError)) throw error;
    }
  },
  list: (path) => readdir(path),
  async status(path) {
    try {
      return toStatus(await lstat(path, { bigint: true }));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  resolve: (path) => realpath(path),
  async read(path, maxBytes) {
    await using file = await open(path, readFlags);
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return { kind: "not-a-file" };
    if (stats.size > maxBytes) return { kind: "too-large" };
    // One byte more than its size, to detect a file that grows while it is read.
    const buffer = Buffer.alloc(Number(stats.size) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    return { kind: "content", bytes: buffer.subarray(0, length), status: toStatus(stats) };
  },
  watch(path, onEvent, onEnd) {
    try {
      const watcher = watch(path, { persistent: false }, onEvent);
      watcher.on("error", onEnd);
      return { [Symbol.dispose]: () => watcher.close() };
    } catch {
      // Too many watches, or a file system without events: the caller polls.
      return undefined;
    }
  },
};

function toStatus(stats: BigIntStats): FileStatus {
  const kinds = [
    stats.isFile() && "file",
    stats.isDirectory() && "directory",
    stats.isSymbolicLink() && "link",
  ] as const;
  return {
    kind: kinds.find((kind) => kind !== false) ?? "other",
    // Inode numbers are reused; with the birth time they are unique.
    identity: [stats.dev, stats.ino, stats.birthtimeNs].join(":"),
    // Programs cannot set ctime, so it also detects files whose mtime was set back.
    signature: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":"),
    // Rounded: file systems and system calls truncate times.
    modifiedAtMs: Number((stats.mtimeNs + 500_000n) / 1_000_000n),
  };
}
