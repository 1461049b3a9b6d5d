/**
 * Locks between processes that the operating system releases when their holder
 * exits, also with `kill -9`. They are file locks, taken through an empty SQLite
 * database: Node has no call for them, and SQLite handles the pitfalls of every
 * platform.
 *
 * A lock file is never deleted, and no other code of the process may open it:
 * with POSIX locks, closing any descriptor of a file releases all locks on it.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { FilesError } from "./files-error.ts";
import { createPrivateFile } from "./private-paths.ts";

/** `exclusive`: no other holder. `shared`: no exclusive holder. */
export type LockMode = "exclusive" | "shared";

/** `SQLITE_BUSY` (https://sqlite.org/rescode.html). */
const sqliteBusy = 5;
/** With one page at most, SQLite allocates none beforehand, which would be 90 kB for each lock. */
const pragmas = "PRAGMA cache_size = 1; PRAGMA journal_mode = MEMORY";
/** Milliseconds between two attempts. */
const retryMs = 10;

/**
 * Takes the lock `name` of a directory (the file `<name>.lock`) without waiting.
 *
 * @returns the lock, held until disposed; `undefined` while another holder, in this process or another, excludes it.
 * @throws {FilesError} `FILE_LOCK_UNUSABLE`
 */
export function tryLock(directory: string, name: string, mode: LockMode): Disposable | undefined {
  const path = join(directory, `${name}.lock`);
  let database: DatabaseSync | undefined;
  try {
    createPrivateFile(path);
    database = new DatabaseSync(path, { timeout: 0 });
    // In rollback mode a reader holds the shared lock until its transaction ends.
    database.exec(
      mode === "exclusive"
        ? `${pragmas}; BEGIN EXCLUSIVE`
        : `${pragmas}; BEGIN; SELECT count(*) FROM sqlite_schema`,
    );
  } catch (cause) {
    database?.close();
    const { errcode } = cause as { readonly errcode?: unknown };
    if (typeof errcode === "number" && (errcode & 0xff) === sqliteBusy) return undefined;
    throw new FilesError("FILE_LOCK_UNUSABLE", `Cannot lock "${path}"`, {
      cause,
      hint: "use a file system that supports file locks, and let the user who runs toolcrib own the directory",
    });
  }
  const held = database;
  return {
    [Symbol.dispose]() {
      if (held.isOpen) held.close();
    },
  };
}

/**
 * Takes an exclusive lock, and waits for other holders.
 *
 * @returns the lock, held until disposed; `undefined` when `timeoutMs` milliseconds were not enough.
 * @throws {FilesError} `FILE_LOCK_UNUSABLE`
 */
export async function waitForLock(
  directory: string,
  name: string,
  timeoutMs: number,
): Promise<Disposable | undefined> {
  // Attempts that are late on a busy machine are no reason to wait longer.
  const deadline = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const lock = tryLock(directory, name, "exclusive");
    if (lock !== undefined || deadline.aborted) return lock;
    await delay(retryMs);
  }
}
