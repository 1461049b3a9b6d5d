/**
 * A saved tool: the fields of the storage format of the document, and their limits.
 * Data only.
 */

import type { JsonObject } from "@toolcrib/json";

/** The definition of a saved tool, as an agent saves it. */
export interface SavedToolDefinition {
  /** 1 to 64 of `A-Z a-z 0-9 _ . -`, beginning with a letter, a digit or `_` (`lintSavedName`). */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's parameters. The store only checks that it is an object. */
  readonly inputSchema: JsonObject;
  /** Starlark. The store treats it as text. */
  readonly code: string;
  /** Data of Toolcrib beyond the format of the document: reach, approval, tests. Each save replaces it whole. */
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

/** Limits of saved tools, for agents and for files that are edited by hand. */
export interface SavedToolLimits {
  /** Most saved tools. Of more files, the last ones by name are not read. @default 1000 */
  readonly maxTools?: number;
  /** Longest code in bytes of UTF-8. @default 102,400 */
  readonly codeMaxBytes?: number;
  /** Longest description in bytes of UTF-8. @default 16,384 */
  readonly descriptionMaxBytes?: number;
  /** Longest input schema in bytes of JSON. @default 65,536 */
  readonly schemaMaxBytes?: number;
  /** Longest `toolcrib` object in bytes of JSON. @default 524,288 */
  readonly toolcribMaxBytes?: number;
  /** Longest file in bytes. @default 1,048,576 */
  readonly fileMaxBytes?: number;
}

/** Returns `limits` with defaults. */
export function resolveSavedToolLimits(limits: SavedToolLimits): Required<SavedToolLimits> {
  return {
    maxTools: limits.maxTools ?? 1000,
    codeMaxBytes: limits.codeMaxBytes ?? 100 * 1024,
    descriptionMaxBytes: limits.descriptionMaxBytes ?? 16 * 1024,
    schemaMaxBytes: limits.schemaMaxBytes ?? 64 * 1024,
    toolcribMaxBytes: limits.toolcribMaxBytes ?? 512 * 1024,
    fileMaxBytes: limits.fileMaxBytes ?? 1024 * 1024,
  };
}
