/**
 * The few file operations that saved tools need, each of them one step that can
 * fail or be the last of a process. Errors are Node's, with their `code`.
 * Nothing here decides anything.
 */

import { type BigIntStats, constants, watch } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, realpath, rename, unlink } from "node:fs/promises";

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

/** A file that is being written and has no reader yet. */
export interface NewFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Set the time of the last change. */
  setModified(atMs: number): Promise<void>;
  /** Wait until the content is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** File access, as `openSavedTools` takes it. */
export interface SavedFiles {
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
  /** A file of mode 0600 that was not there before (`EEXIST`). */
  create(path: string): Promise<NewFile>;
  /** Give a file another's place, in one step. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Wait until the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  /**
   * Hear that something changed in a directory, until disposed of.
   *
   * @returns `undefined` where that cannot be heard.
   */
  watch(path: string, onEvent: () => void, onEnd: () => void): Disposable | undefined;
}

// Windows has neither flag.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Node's file system. */
export const nodeFiles: SavedFiles = {
  async makeDirectory(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (process.platform === "win32" || ((await lstat(path)).mode & 0o077) === 0) return;
    try {
      await chmod(path, 0o700);
    } catch (error) {
      // Not this user's to close, or on a disk that nobody can write to.
      if (!["EPERM", "EROFS"].includes(errnoOf(error) ?? "")) throw error;
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
  async create(path) {
    const file = await open(path, createFlags, 0o600);
    return {
      write: (bytes) => file.writeFile(bytes),
      setModified: (atMs) => file.utimes(atMs / 1000, atMs / 1000),
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  rename,
  remove: unlink,
  async syncDirectory(path) {
    // Windows opens no directories; its file systems order these changes themselves.
    if (process.platform === "win32") return;
    await using directory = await open(path, constants.O_RDONLY);
    await directory.sync();
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

/** The system's name of an error, such as `ENOSPC`. */
export function errnoOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
