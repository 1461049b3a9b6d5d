/**
 * Locks between processes that die with their holder, also with kill -9: the
 * operating system's file locks, taken through an empty SQLite database, since
 * Node has no call for them and SQLite knows the traps of every platform.
 *
 * A lock file is never deleted, and nothing else in the process may open it:
 * with POSIX locks, closing any descriptor of a file gives up all locks on it.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivateFile } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
export const sqliteResult = {
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The primary result code of an error that node:sqlite threw, or `undefined` for other errors. */
export function sqliteResultOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

/**
 * Take the lock `name` in `directory` without waiting.
 *
 * @returns the lock, held until disposed; `undefined` when somebody else holds it
 *   (anybody for `exclusive`, an exclusive holder for `shared`), in this process or another.
 * @throws {StoreError} `STORE_HOME_UNUSABLE` when the file cannot be used.
 */
export function tryLock(
  directory: string,
  name: string,
  mode: "exclusive" | "shared",
): Disposable | undefined {
  const path = join(directory, `${name}.lock`);
  let database: DatabaseSync | undefined;
  try {
    createPrivateFile(path);
    database = new DatabaseSync(path, { timeout: 0 });
    // In rollback mode a reader holds the shared lock until its transaction ends.
    database.exec(
      mode === "exclusive"
        ? "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"
        : "PRAGMA journal_mode = MEMORY; BEGIN; SELECT count(*) FROM sqlite_schema",
    );
  } catch (cause) {
    database?.close();
    if (sqliteResultOf(cause) === sqliteResult.busy) return undefined;
    throw new StoreError("STORE_HOME_UNUSABLE", `Cannot lock "${path}"`, {
      cause,
      hint: "The file system must support file locks, and the user who runs toolcrib must own the home directory",
    });
  }
  const held = database;
  return {
    [Symbol.dispose]() {
      if (held.isOpen) held.close();
    },
  };
}
