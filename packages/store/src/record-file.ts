/**
 * One JSON file of records with unique keys: `{"format": 1, "records": [...]}`.
 *
 * Invariant: the file has its content from before a change or from after it, also
 * when the process is killed. A change takes a lock of the home, reads the file and
 * replaces it, so that no change of another process is lost. Readers take no lock.
 *
 * A file that cannot be read or parsed is never replaced and never counts as empty: its
 * records may be lost, and a reader that took them for absent would accept anew what an
 * operator has refused.
 */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import {
  errnoOf,
  type FileSteps,
  FilesError,
  makePrivateDirectory,
  nodeFileSteps,
  readRegularFile,
  reasonOf,
  removeDrafts,
  removeFile,
  replaceFile,
  waitForLock,
} from "@toolcrib/files";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { createHome, type HomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";

const formatVersion = 1;
const damaged = "its content is damaged";
/** Milliseconds that a change waits for changes of other processes. */
const lockTimeoutMs = 10_000;

/** Dependencies of a record file. */
export interface RecordFileDeps {
  readonly layout: HomeLayout;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps | undefined;
}

/** Location and format of a record file. */
export interface RecordFileOptions<T> {
  readonly path: string;
  /** Name of the lock of the home. */
  readonly lockName: string;
  /** Largest file. */
  readonly maxBytes: number;
  readonly keyOf: (record: T) => string;
  /** Returns the record in a value of the file; `undefined` for an invalid one. */
  readonly parse: (value: JsonObject) => T | undefined;
  /** Hint of the error for a file that cannot be read. */
  readonly hint: string;
  /** Removes the file with its last record. @default false */
  readonly removesEmpty?: boolean;
  /** Whether a file without a record counts as damaged. @default false */
  readonly isNeverEmpty?: boolean;
}

/** The records of one file. */
export class RecordFile<T> {
  readonly #deps: RecordFileDeps;
  readonly #options: RecordFileOptions<T>;
  #signature = "";
  #records: ReadonlyMap<string, T> = new Map();

  constructor(deps: RecordFileDeps, options: RecordFileOptions<T>) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Returns the records by key; the same object while the file does not change. @throws {StoreError} `STORE_UNREADABLE` */
  async read(): Promise<ReadonlyMap<string, T>> {
    const { path } = this.#options;
    try {
      const signature = await signatureOf(path);
      if (signature !== this.#signature) {
        this.#records = signature === "" ? new Map() : await this.#parseFile();
        this.#signature = signature;
      }
      return this.#records;
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      throw this.#unreadable(reasonOf(cause), cause);
    }
  }

  /**
   * Replaces the file with the records after `apply`, which changes its argument. When
   * `apply` throws, nothing is changed.
   *
   * @throws {StoreError} `STORE_BUSY`, `STORE_UNWRITABLE`, `STORE_FULL`, and as `read`.
   */
  async change<R>(apply: (records: Map<string, T>) => R): Promise<R> {
    const { layout, randomBytes, steps = nodeFileSteps } = this.#deps;
    const { path, lockName, maxBytes, removesEmpty = false } = this.#options;
    try {
      await createHome(layout);
      await makePrivateDirectory(dirname(path));
      using lock = await waitForLock(layout.lockDirectory, lockName, lockTimeoutMs);
      if (lock === undefined) throw busy(path);
      await removeDrafts(dirname(path), { steps });
      const records = new Map(await this.read());
      const result = apply(records);
      if (removesEmpty && records.size === 0) {
        await removeFile(path, steps);
        return result;
      }
      const text = `${JSON.stringify({ format: formatVersion, records: [...records.values()] })}\n`;
      if (Buffer.byteLength(text) > maxBytes) throw full(path, `${maxBytes} bytes`);
      await replaceFile({ randomBytes, steps }, path, text);
      await this.read();
      return result;
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      if (cause instanceof FilesError)
        throw new StoreError("STORE_UNWRITABLE", cause.message, { cause, hint: cause.hint });
      throw new StoreError("STORE_UNWRITABLE", `Cannot write "${path}": ${reasonOf(cause)}`, { cause });
    }
  }

  async #parseFile(): Promise<ReadonlyMap<string, T>> {
    const { path, maxBytes, keyOf, parse, isNeverEmpty = false } = this.#options;
    const { bytes } = await readRegularFile(path, maxBytes);
    if (bytes.length > maxBytes) throw this.#unreadable(`it has more than ${maxBytes} bytes`);
    const document = parseDocument(Buffer.from(bytes).toString("utf8"));
    if (document === undefined) throw this.#unreadable(damaged);
    if (document["format"] !== formatVersion) {
      const format = JSON.stringify(document["format"])?.slice(0, 20);
      throw this.#unreadable(
        `its format is ${format}, and this version of Toolcrib supports ${formatVersion}`,
      );
    }
    const values = document["records"];
    const isLost = isNeverEmpty && Array.isArray(values) && values.length === 0;
    if (!Array.isArray(values) || isLost) throw this.#unreadable(damaged);
    const records = new Map<string, T>();
    for (const value of values) {
      const record = isJsonObject(value) ? parse(value) : undefined;
      if (record === undefined) throw this.#unreadable(damaged);
      records.set(keyOf(record), record);
    }
    return records;
  }

  #unreadable(reason: string, cause?: unknown): StoreError {
    const { path, hint } = this.#options;
    return new StoreError("STORE_UNREADABLE", `Cannot read "${path}": ${reason}`, { cause, hint });
  }
}

/** Identifies the content of a file, which is only ever replaced whole; empty when it does not exist. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

function parseDocument(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error for a stored version that differs from the expected one. */
export function conflict(what: string, expected: number | undefined, found: number | undefined): StoreError {
  const shown = (version: number | undefined) => (version === undefined ? "none" : `version ${version}`);
  return new StoreError(
    "STORE_CONFLICT",
    `Cannot change ${what}: ${shown(found)} is stored, and the caller read ${shown(expected)}`,
    { hint: "read the current version and try again" },
  );
}

/** Returns the error for a record that would exceed a limit of the store. */
export function full(path: string, limit: string): StoreError {
  return new StoreError("STORE_FULL", `Cannot write "${path}": at most ${limit} are allowed`, {
    hint: "remove entries that are not needed",
  });
}

function busy(path: string): StoreError {
  const message = `Cannot lock "${path}": another process has been writing to it for ${lockTimeoutMs} ms`;
  return new StoreError("STORE_BUSY", message, {
    hint: "try again; if this persists, look for a toolcrib process that hangs",
  });
}
