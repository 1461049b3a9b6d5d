/**
 * The few file operations that saved tools need, each of them one step that can
 * fail or be the last of a process. Errors are Node's, with their `code`.
 * Nothing here decides anything.
 */

import { type BigIntStats, constants, watch } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { errnoOf, type FileSteps, FilesError, makePrivateDirectory, nodeFileSteps } from "@toolcrib/files";

/** What is known of a path without following a link. */
export interface FileStatus {
  readonly kind: "file" | "directory" | "link" | "other";
  /** Whatever becomes of its content and its name, it is the same file as long as it has this. */
  readonly identity: string;
  /** Equal as long as nobody has changed the file. */
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

/** What came of reading a file. */
export type FileContent =
  | { readonly kind: "content"; readonly bytes: Uint8Array; readonly status: FileStatus }
  | { readonly kind: "too-large" }
  | { readonly kind: "not-a-file" };

/** File access, as `openSavedToolStore` takes it. */
export interface SavedFiles extends FileSteps {
  /** Create a directory and those above it with mode 0700; one that exists and is this user's is closed to others. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory. */
  list(path: string): Promise<readonly string[]>;
  /** `undefined` when nothing is there. */
  status(path: string): Promise<FileStatus | undefined>;
  /** The path with all links followed. */
  resolve(path: string): Promise<string>;
  /** Content and status of one and the same file; never through a link, never waiting for a pipe. */
  read(path: string, maxBytes: number): Promise<FileContent>;
  /**
   * Hear that something changed in a directory, until disposed of.
   *
   * @returns `undefined` where that cannot be heard.
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
    // A byte more than there should be: a file may grow while it is read.
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
      // Too many watches, or a file system that tells nothing: the caller looks for itself.
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
    // Numbers are given again to those that come after: only with its birth it is one and the same.
    identity: [stats.dev, stats.ino, stats.birthtimeNs].join(":"),
    // The time of change cannot be set, so it also tells files that were dated back.
    signature: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":"),
    // Rounded: file systems and system calls cut what they cannot hold.
    modifiedAtMs: Number((stats.mtimeNs + 500_000n) / 1_000_000n),
  };
}
