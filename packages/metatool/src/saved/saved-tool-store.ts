/**
 * The saved tools of one directory as others see them: what they need, how they
 * behave, and what can be done with them. Types only.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { Unsubscribe } from "@toolcrib/tool";
import type { MetatoolError } from "../metatool-error.ts";
import type { SavedFiles } from "./saved-files.ts";
import type { SavedTool, SavedToolDefinition, SavedToolLimits } from "./saved-tool.ts";

/** What saved tools need of the world. */
export interface SavedToolStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, as `randomBytes` of `node:crypto` gives them. */
  readonly randomBytes: (count: number) => Uint8Array;
  /**
   * Whether a name belongs to a tool that is no saved one. Asked only for names
   * that are not saved yet: other tools come and go, and with them must not go
   * what was saved before. @default none does
   */
  readonly isReserved?: (name: string) => boolean;
  /** @default Node's file system */
  readonly files?: SavedFiles;
  /** Told what went wrong where nobody waits for an answer. For the log. @default nobody */
  readonly onProblem?: (problem: MetatoolError) => void;
}

/** Where saved tools are and how they behave. */
export interface SavedToolStoreOptions extends SavedToolLimits {
  /** Path of the directory; created with mode 0700 when it is missing. */
  readonly directory: string;
  /** Milliseconds after which executions that were counted are written. @default 5000 */
  readonly flushMs?: number;
  /** Executions that are written before that time is over. @default 100 */
  readonly flushCount?: number;
  /** Milliseconds for which a look at the directory is good, when changes in it can be heard of. @default 1000 */
  readonly lookMs?: number;
  /** Milliseconds between hearing of a change and looking; an editor makes several. @default 50 */
  readonly settleMs?: number;
  /** Milliseconds to wait for another process that writes. @default 10,000 */
  readonly lockTimeoutMs?: number;
}

/** Which tools changed, by name, whoever changed them. Counters are no change. */
export interface SavedToolChange {
  /** New ones and ones with another definition. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What saving did. */
export interface SavedToolResult {
  readonly tool: SavedTool;
  /** What was replaced; absent when the tool is new. */
  readonly previous?: SavedTool;
}

/** The saved tools of one directory. Disposing writes the counters into the files of the tools. */
export interface SavedToolStore extends AsyncDisposable {
  /** All of them by name, after a look at the directory. @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`, `METATOOL_CLOSED`. */
  list(): Promise<readonly SavedTool[]>;
  /** One of them, after a look at the directory. @throws {MetatoolError} as `list`. */
  get(name: string): Promise<SavedTool | undefined>;
  /** All of them by name, as last seen. */
  current(): readonly SavedTool[];
  /** What keeps files in the directory from being tools, as last seen. */
  diagnostics(): readonly Diagnostic[];
  /**
   * Create a tool or replace its definition.
   *
   * @param options.expectedModified the `metadata.modified` that the caller has seen; when the tool has another by now, or is gone, nothing is saved.
   * @throws {MetatoolError} what `lintSavedTool` finds, by the code of the first; `METATOOL_NAME_TAKEN`,
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
   * @returns what was removed; `undefined` when there was no such tool.
   * @throws {MetatoolError} `METATOOL_FILE_IN_THE_WAY` for a file that is no usable tool, and as `save`.
   */
  delete(name: string): Promise<SavedTool | undefined>;
  /** Count an execution, at a time in milliseconds since the epoch. Unknown names are ignored: a tool may be deleted while it runs. */
  recordExecution(name: string, atMs: number): void;
  /** Write the executions that were counted. @throws {MetatoolError} `METATOOL_UNWRITABLE`, `METATOOL_DIRECTORY_BUSY`; they are kept. */
  flush(): Promise<void>;
  onChange(listener: (change: SavedToolChange) => void): Unsubscribe;
}
