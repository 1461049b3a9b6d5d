/**
 * The interface of the store of saved tools, and its records: the fields of the
 * storage format of the Metatool document. Types only. The engine of one machine
 * keeps one file for each tool (package `metatool`); every engine passes the
 * contract tests in `@toolcrib/testing`.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { Unsubscribe } from "@toolcrib/tool";

/** The definition of a saved tool, as an agent saves it. */
export interface SavedToolDefinition {
  /** 1 to 64 of `A-Z a-z 0-9 _ . -`, beginning with a letter, a digit or `_`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's parameters. The store only checks that it is an object. */
  readonly inputSchema: JsonObject;
  /** Starlark. The store treats it as text. */
  readonly code: string;
  /** Toolcrib's own data, which the Metatool document does not define, such as reach and tests. Each save replaces all of it. */
  readonly toolcrib?: JsonObject;
}

/** Metadata that the store maintains. Times are ISO 8601. */
export interface SavedToolMetadata {
  readonly created: string;
  /** Changes with every change of the definition, also by hand. `expectedModified` is compared with it. */
  readonly modified: string;
  readonly executionCount: number;
  /** Absent until the first execution. */
  readonly lastExecuted?: string;
}

/** A saved tool. */
export interface SavedTool extends SavedToolDefinition {
  readonly metadata: SavedToolMetadata;
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

/**
 * The saved tools of one location, which several open stores share.
 *
 * Each change is atomic and applies to one tool. Changes of all stores of a location
 * are made one after the other, and a change that resolved is visible to every later
 * `list` and `get` of every store. Limits: 1,000 tools, 102,400 bytes of code and
 * 1,048,576 bytes of data for each, unless the engine was opened with others.
 * Disposing writes the counters.
 */
export interface SavedToolStore extends AsyncDisposable {
  /** Returns all current tools by name. @throws {CodedError} `METATOOL_DIRECTORY_UNUSABLE`, `METATOOL_CLOSED`. */
  list(): Promise<readonly SavedTool[]>;
  /** Returns one current tool. @throws {CodedError} as `list`. */
  get(name: string): Promise<SavedTool | undefined>;
  /** Returns all tools by name as of the last scan. No I/O. */
  current(): readonly SavedTool[];
  /** Returns the findings about unusable entries as of the last scan. */
  diagnostics(): readonly Diagnostic[];
  /**
   * Creates a tool or replaces its definition.
   *
   * @param options.expectedModified the `metadata.modified` that the caller read; when the tool was changed or deleted since, nothing is saved.
   * @param options.isNew whether the caller read that no tool has this name; when one was created since, nothing is saved.
   * @throws {CodedError} the code of the first finding about the definition; `METATOOL_NAME_TAKEN`,
   *   `METATOOL_NAME_RESERVED`, `METATOOL_TOO_MANY_TOOLS`, `METATOOL_FILE_TOO_LARGE`, `METATOOL_FILE_IN_THE_WAY`,
   *   `METATOOL_CHANGED_MEANWHILE`; `METATOOL_UNWRITABLE` and `METATOOL_DIRECTORY_BUSY`, with nothing changed;
   *   `METATOOL_NOT_DURABLE`, with the new definition in place; `METATOOL_DIRECTORY_UNUSABLE`, `METATOOL_CLOSED`.
   */
  save(
    definition: SavedToolDefinition,
    options?: { readonly expectedModified?: string; readonly isNew?: boolean },
  ): Promise<SavedToolResult>;
  /**
   * Removes a tool.
   *
   * @param options.expectedModified as in `save`
   * @returns the removed tool; `undefined` when it did not exist.
   * @throws {CodedError} `METATOOL_FILE_IN_THE_WAY` for an entry that is not a usable tool, and as `save`.
   */
  delete(name: string, options?: { readonly expectedModified?: string }): Promise<SavedTool | undefined>;
  /** Counts an execution at `atMs` (milliseconds since the epoch). Ignores unknown names: a tool can be deleted while it runs. */
  recordExecution(name: string, atMs: number): void;
  /** Writes the counted executions. @throws {CodedError} `METATOOL_UNWRITABLE`, `METATOOL_DIRECTORY_BUSY`; the counts are kept. */
  flush(): Promise<void>;
  /** Calls `listener` after any process changed a definition. Changes between two scans are reported together. */
  onChange(listener: (change: SavedToolChange) => void): Unsubscribe;
}
