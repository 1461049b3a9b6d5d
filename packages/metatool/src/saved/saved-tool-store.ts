/**
 * The interface of the store of saved tools. Types only; `openSavedToolStore` opens
 * the engine that keeps files.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { Unsubscribe } from "@toolcrib/tool";
import type { MetatoolError } from "../metatool-error.ts";
import type { SavedFiles } from "./saved-files.ts";
import type { SavedTool, SavedToolDefinition, SavedToolLimits } from "./saved-tool.ts";

/** Dependencies of the store. */
export interface SavedToolStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /**
   * Returns whether a name belongs to a tool that is not a saved tool. Called only for
   * new names: tools of other origins must not make saved tools unusable.
   * @default no name is reserved
   */
  readonly isReserved?: (name: string) => boolean;
  /** @default Node's file system */
  readonly files?: SavedFiles;
  /** Called with failures that no caller waits for. For the log. @default no call */
  readonly onProblem?: (problem: MetatoolError) => void;
}

/** Location and behaviour of the store. */
export interface SavedToolStoreOptions extends SavedToolLimits {
  /** Path of the directory; created with mode 0700 when it is missing. */
  readonly directory: string;
  /** Milliseconds after which counted executions are written. @default 5000 */
  readonly flushMs?: number;
  /** Number of counted executions that are written at once. @default 100 */
  readonly flushCount?: number;
  /** Milliseconds for which a scan is fresh, when the directory can be watched. @default 1000 */
  readonly freshMs?: number;
  /** Milliseconds between a file system event and the scan; an editor causes several events. @default 50 */
  readonly settleMs?: number;
  /** Longest wait for another process that writes, in milliseconds. @default 10,000 */
  readonly lockTimeoutMs?: number;
}

/** The names of the tools that any process changed. Changes of counters are not reported. */
export interface SavedToolChange {
  /** New tools and tools with a changed definition. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The result of `save`. */
export interface SavedToolResult {
  readonly tool: SavedTool;
  /** The replaced tool; absent for a new tool. */
  readonly previous?: SavedTool;
}

/** The saved tools of one location. Every engine passes the contract tests of this package. Disposing writes the counters. */
export interface SavedToolStore extends AsyncDisposable {
  /** Returns all current tools by name. @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`, `METATOOL_CLOSED`. */
  list(): Promise<readonly SavedTool[]>;
  /** Returns one current tool. @throws {MetatoolError} as `list`. */
  get(name: string): Promise<SavedTool | undefined>;
  /** Returns all tools by name as of the last scan. No I/O. */
  current(): readonly SavedTool[];
  /** Returns the findings about unusable entries as of the last scan. */
  diagnostics(): readonly Diagnostic[];
  /**
   * Create a tool or replace its definition.
   *
   * @param options.expectedModified the `metadata.modified` that the caller read; when the tool was changed or deleted since, nothing is saved.
   * @throws {MetatoolError} the code of the first finding of `lintSavedTool`; `METATOOL_NAME_TAKEN`,
   *   `METATOOL_NAME_RESERVED`, `METATOOL_TOO_MANY_TOOLS`, `METATOOL_FILE_TOO_LARGE`, `METATOOL_FILE_IN_THE_WAY`,
   *   `METATOOL_CHANGED_MEANWHILE`; `METATOOL_UNWRITABLE` and `METATOOL_DIRECTORY_BUSY`, with nothing changed;
   *   `METATOOL_NOT_DURABLE`, with the new definition in place; `METATOOL_DIRECTORY_UNUSABLE`, `METATOOL_CLOSED`.
   */
  save(
    definition: SavedToolDefinition,
    options?: { readonly expectedModified?: string },
  ): Promise<SavedToolResult>;
  /**
   * Remove a tool.
   *
   * @returns the removed tool; `undefined` when it did not exist.
   * @throws {MetatoolError} `METATOOL_FILE_IN_THE_WAY` for a file that is not a usable tool, and as `save`.
   */
  delete(name: string): Promise<SavedTool | undefined>;
  /** Count an execution at `atMs` (milliseconds since the epoch). Ignores unknown names: a tool can be deleted while it runs. */
  recordExecution(name: string, atMs: number): void;
  /** Write the counted executions. @throws {MetatoolError} `METATOOL_UNWRITABLE`, `METATOOL_DIRECTORY_BUSY`; the counts are kept. */
  flush(): Promise<void>;
  onChange(listener: (change: SavedToolChange) => void): Unsubscribe;
}
