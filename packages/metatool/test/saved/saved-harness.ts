/** Directories of saved tools for tests: a clock that ticks, definitions, and file steps that can be watched or stopped. */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type MetatoolError,
  nodeFiles,
  openSavedToolStore,
  type SavedFiles,
  type SavedToolDefinition,
  type SavedToolStore,
  type SavedToolStoreDeps,
  type SavedToolStoreOptions,
} from "@toolcrib/metatool";

/** What is opened where a test says nothing: by hand only, so that nothing happens while it does not look. */
export function openTest(
  directory: string,
  deps: Partial<SavedToolStoreDeps> = {},
  options: Partial<SavedToolStoreOptions> = {},
): Promise<SavedToolStore> {
  return openSavedToolStore(
    { now: tickingClock(), randomBytes, onProblem: throwProblem, ...deps },
    { directory, flushMs: 3_600_000, ...options },
  );
}

function throwProblem(problem: MetatoolError): void {
  throw problem;
}

/** A second later with each look at it, from 2026 on. */
export function tickingClock(): () => number {
  let now = Date.UTC(2026, 0, 1);
  return () => {
    now += 1000;
    return now;
  };
}

/** A definition that can be saved; `changes` are laid over it. */
export function definitionOf(changes: Partial<SavedToolDefinition> = {}): SavedToolDefinition {
  return {
    name: "double",
    description: "Twice a number",
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
    code: "return params.n * 2\n",
    ...changes,
  };
}

/** A file as the document has it; `changes` are laid over it. */
export function documentOf(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const metadata = {
    created: "2026-01-01T00:00:00.000Z",
    // Later than any file of a test is written, so that none looks edited by hand.
    modified: "2099-01-01T00:00:00.000Z",
    executionCount: 0,
  };
  return { version: "1.0", ...definitionOf(), metadata, ...changes };
}

/** The parsed file of the tool `name`. */
export function readDocument(directory: string, name: string): Record<string, unknown> & DocumentMetadata {
  return JSON.parse(readFileSync(join(directory, `${name}.json`), "utf8"));
}

/** What tests look at in a file's metadata. */
export interface DocumentMetadata {
  readonly metadata: {
    readonly created: string;
    readonly modified: string;
    readonly executionCount: number;
    readonly lastExecuted?: string;
  };
}

/** Names of all files but the lock. */
export function fileNames(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !name.endsWith(".lock"))
    .sort();
}

/** A step that changes something on the disk, or makes it last. */
export type FileStep =
  | "makeDirectory"
  | "create"
  | "write"
  | "setModified"
  | "sync"
  | "close"
  | "rename"
  | "remove"
  | "syncDirectory";

/**
 * Node's files, each step inside `around`.
 *
 * @param around `half` does what a step does even when it fails: the first half of a write, all of a close.
 */
export function steppedFiles(
  around: <T>(step: FileStep, run: () => Promise<T>, half?: () => Promise<void>) => Promise<T>,
): SavedFiles {
  return {
    ...nodeFiles,
    makeDirectory: (path) => around("makeDirectory", () => nodeFiles.makeDirectory(path)),
    rename: (from, to) => around("rename", () => nodeFiles.rename(from, to)),
    remove: (path) => around("remove", () => nodeFiles.remove(path)),
    syncDirectory: (path) => around("syncDirectory", () => nodeFiles.syncDirectory(path)),
    async create(path, mode) {
      const file = await around("create", () => nodeFiles.create(path, mode));
      return {
        ...file,
        write: (bytes) =>
          around(
            "write",
            () => file.write(bytes),
            () => file.write(bytes.subarray(0, bytes.length >> 1)),
          ),
        setModified: (atMs) => around("setModified", () => file.setModified(atMs)),
        sync: () => around("sync", () => file.sync()),
        // A close that fails has closed all the same.
        close: () =>
          around(
            "close",
            () => file.close(),
            () => file.close(),
          ),
      };
    },
  };
}
