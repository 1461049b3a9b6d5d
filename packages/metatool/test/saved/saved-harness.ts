/** Stores of saved tools for tests: a ticking clock, definitions, and file steps that can be observed or stopped. */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type MetatoolError, nodeFiles, openSavedToolStore } from "@toolcrib/metatool";
import type { SavedToolDefinition, SavedToolStore } from "@toolcrib/store";

/** Opens a store that writes no counters by itself, unless the test sets options. */
export function openTest(
  directory: string,
  deps: Partial<Parameters<typeof openSavedToolStore>[0]> = {},
  options: Partial<Parameters<typeof openSavedToolStore>[1]> = {},
): Promise<SavedToolStore> {
  return openSavedToolStore(
    { now: tickingClock(), randomBytes, onProblem: throwProblem, ...deps },
    { directory, flushMs: 3_600_000, ...options },
  );
}

function throwProblem(problem: MetatoolError): void {
  throw problem;
}

/** Returns a clock that starts in 2026 and advances by a second with each reading. */
export function tickingClock(): () => number {
  let now = Date.UTC(2026, 0, 1);
  return () => {
    now += 1000;
    return now;
  };
}

/** Returns a valid definition with `changes`. */
export function definitionOf(changes: Partial<SavedToolDefinition> = {}): SavedToolDefinition {
  return {
    name: "double",
    description: "Twice a number",
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
    code: "return params.n * 2\n",
    ...changes,
  };
}

/** Returns the document of a file with `changes`. */
export function documentOf(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const metadata = {
    created: "2026-01-01T00:00:00.000Z",
    // Later than the files of the test, so that none counts as edited by hand.
    modified: "2099-01-01T00:00:00.000Z",
    executionCount: 0,
  };
  return { version: "1.0", ...definitionOf(), metadata, ...changes };
}

/** The parsed file of the tool `name`. */
export function readDocument(directory: string, name: string): Record<string, unknown> & DocumentMetadata {
  return JSON.parse(readFileSync(join(directory, `${name}.json`), "utf8"));
}

/** The metadata of a file. */
export interface DocumentMetadata {
  readonly metadata: {
    readonly created: string;
    readonly modified: string;
    readonly executionCount: number;
    readonly lastExecuted?: string;
  };
}

/** Names of all files except the lock. */
export function fileNames(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !name.endsWith(".lock"))
    .sort();
}

/** A step that changes the disk or syncs it. */
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
 * Returns Node's files with each step inside `around`.
 *
 * @param around `half` does the part of a step that happens even when it fails: the first half of a write, a whole close.
 */
export function steppedFiles(
  around: <T>(step: FileStep, run: () => Promise<T>, half?: () => Promise<void>) => Promise<T>,
): typeof nodeFiles {
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
        // A close that fails has closed the file all the same.
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
