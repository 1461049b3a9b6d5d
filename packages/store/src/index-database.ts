/**
 * The SQLite file of the index: opened in WAL mode, private to its owner, and moved
 * away when it is damaged. It contains nothing that is not in the segments, so it
 * can be rebuilt at any time.
 */

import { existsSync, renameSync, rmSync, type Stats, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createPrivateFile, errnoOf } from "@toolcrib/files";
import type { HomeLayout } from "./home-layout.ts";
import { lockHome } from "./home-lock.ts";
import { sqliteResult, sqliteResultOf } from "./sqlite-result.ts";
import { StoreError } from "./store-error.ts";

/** An open index database. */
export interface IndexDatabase {
  readonly database: DatabaseSync;
  /** `file`: shared with other processes. `memory`: private to this process, because the file cannot be used. */
  readonly kind: "file" | "memory";
  /** Returns whether the path still names the opened file. */
  isCurrent(): boolean;
  close(): void;
}

/** Incremented with every change of the tables. An index of another version is rebuilt. */
const schemaVersion = 2;
/** Milliseconds that a statement waits for another process that writes to the index. */
const busyTimeoutMs = 5000;
/** Attempts to turn a file to WAL mode while others do that, and milliseconds between two of them. */
const walMaxCount = 40;
const walPauseMs = 25;
const lockName = "index";

/**
 * Opens the index of the home, or one in memory when the home does not exist or
 * cannot be written to.
 *
 * @throws a SQLite error; `isDamage` returns whether `moveDamagedAway` can help.
 */
export function openIndexDatabase(layout: HomeLayout): IndexDatabase {
  if (!existsSync(layout.lockDirectory)) return openInMemory();
  let lock: Disposable | undefined;
  let database: DatabaseSync | undefined;
  let opened: Stats;
  try {
    // Held by every process that uses the file, so that no process moves it away meanwhile.
    lock = waitForSharedLock(layout);
    createPrivateFile(layout.databasePath);
    database = new DatabaseSync(layout.databasePath, { timeout: busyTimeoutMs });
    // Call ids are random, so indexing touches pages all over the file. A cache of 16 MB, and 16 MB of log
    // between checkpoints, halve the cost.
    turnToWal(database);
    database.exec(
      "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000",
    );
    createTables(database);
    opened = statSync(layout.databasePath);
  } catch (error) {
    database?.close();
    lock?.[Symbol.dispose]();
    if (isForbidden(error)) return openInMemory();
    throw error;
  }
  const held = database;
  return {
    database,
    kind: "file",
    isCurrent() {
      const named = statSync(layout.databasePath, { throwIfNoEntry: false });
      return named !== undefined && named.ino === opened.ino && named.dev === opened.dev;
    },
    close() {
      if (held.isOpen) held.close();
      lock?.[Symbol.dispose]();
    },
  };
}

/** SQLite refuses all but one of several processes that do this with a new file, at once and whatever they may wait. */
function turnToWal(database: DatabaseSync): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (sqliteResultOf(error) !== sqliteResult.busy || attempt === walMaxCount) throw error;
      pause(walPauseMs);
    }
  }
}

/** An index that is built from the segments each time. */
export function openInMemory(): IndexDatabase {
  const database = new DatabaseSync(":memory:");
  createTables(database);
  return {
    database,
    kind: "memory",
    isCurrent: () => true,
    close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Returns whether `error` means that the file is damaged or not a database. */
export function isDamage(error: unknown): boolean {
  const result = sqliteResultOf(error);
  return result === sqliteResult.corrupt || result === sqliteResult.notADatabase;
}

/** Returns whether `error` means that the disk has no space for the file. */
export function isOutOfSpace(error: unknown): boolean {
  const origin: unknown = error instanceof StoreError ? error.cause : error;
  const result = sqliteResultOf(origin);
  // SQLite reports a log that it cannot extend as an I/O error.
  if (result === sqliteResult.full || result === sqliteResult.ioError) return true;
  const errno = errnoOf(origin);
  return errno === "ENOSPC" || errno === "EDQUOT";
}

/**
 * Moves the damaged database of the home away (to `toolcrib.db.damaged`).
 *
 * @returns `false` while another process uses the database.
 * @throws {StoreError} `AUDIT_INDEX_FAILED`.
 */
export function moveDamagedAway(layout: HomeLayout): boolean {
  const lock = lockHome(layout, lockName, "exclusive");
  if (lock === undefined) return false;
  try {
    for (const suffix of ["", "-wal", "-shm"]) {
      const path = `${layout.databasePath}${suffix}`;
      const asidePath = `${layout.databasePath}.damaged${suffix}`;
      rmSync(asidePath, { force: true });
      if (existsSync(path)) renameSync(path, asidePath);
    }
    return true;
  } catch (cause) {
    throw new StoreError(
      "AUDIT_INDEX_FAILED",
      `Cannot move the damaged index "${layout.databasePath}" away`,
      {
        cause,
        hint: "delete it; it is rebuilt from the segments",
      },
    );
  } finally {
    lock[Symbol.dispose]();
  }
}

/** Waits at most one second: moving a database away takes milliseconds. */
function waitForSharedLock(layout: HomeLayout): Disposable | undefined {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const lock = lockHome(layout, lockName, "shared");
    if (lock !== undefined) return lock;
    pause(10);
  }
  throw new StoreError(
    "AUDIT_INDEX_FAILED",
    "Cannot open the audit index: another process is moving it away",
  );
}

/** Waits in the thread that uses the index, as SQLite does. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function isForbidden(error: unknown): boolean {
  const origin: unknown = error instanceof StoreError ? error.cause : error;
  const result = sqliteResultOf(origin);
  if (result === sqliteResult.readOnly || result === sqliteResult.cannotOpen) return true;
  const { code } = origin as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM" || code === "EROFS";
}

function createTables(database: DatabaseSync): void {
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS audit_schema (version INTEGER NOT NULL) STRICT;
  `);
  try {
    const row = database.prepare("SELECT max(version) AS version FROM audit_schema").get();
    if (row?.["version"] !== schemaVersion) database.exec(tables);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Rows point into segments; the records stay there. The primary key is the position
 * in the order of all records, so that newest first is a backward scan.
 */
const tables = `
  DROP TABLE IF EXISTS audit_event;
  DROP TABLE IF EXISTS audit_segment;
  DROP TABLE IF EXISTS audit_problem;
  DELETE FROM audit_schema;
  INSERT INTO audit_schema VALUES (${schemaVersion});
  CREATE TABLE audit_segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    last_sequence INTEGER,
    first_time INTEGER NOT NULL,
    last_time INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE audit_event (
    time INTEGER NOT NULL,
    writer INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    position INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    type TEXT NOT NULL,
    call TEXT,
    parent TEXT,
    client TEXT,
    issuer TEXT,
    subject TEXT,
    tool TEXT,
    outcome TEXT,
    PRIMARY KEY (time, writer, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX audit_event_call ON audit_event (call) WHERE call IS NOT NULL;
  CREATE INDEX audit_event_parent ON audit_event (parent) WHERE parent IS NOT NULL;
  CREATE TABLE audit_problem (
    segment INTEGER NOT NULL,
    position INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (segment, position, kind)
  ) STRICT, WITHOUT ROWID;
`;
