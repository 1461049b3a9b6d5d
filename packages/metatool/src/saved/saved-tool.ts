/**
 * What a saved tool is: the fields of the document's storage format, and how
 * large each may be. Data only.
 */

import type { JsonObject } from "@toolcrib/json";

/** What an agent saves. */
export interface SavedToolDefinition {
  /** 1 to 64 of `A-Z a-z 0-9 _ . -`, beginning with a letter, a digit or `_` (`lintSavedName`). */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's parameters. The store only sees to it that it is an object. */
  readonly inputSchema: JsonObject;
  /** Starlark; to the store it is a text. */
  readonly code: string;
  /** What Toolcrib keeps with a tool beyond the document's format: reach, approval, tests. Replaced whole by each save. */
  readonly toolcrib?: JsonObject;
}

/** What the store keeps account of. Times are ISO 8601. */
export interface SavedToolMetadata {
  readonly created: string;
  /** Differs after every change of the definition, by hand too: what `expectedModified` is compared with. */
  readonly modified: string;
  readonly executionCount: number;
  /** Absent until the first execution. */
  readonly lastExecuted?: string;
}

/** A saved tool. */
export interface SavedTool extends SavedToolDefinition {
  readonly metadata: SavedToolMetadata;
}

/** How large saved tools may be, whether an agent saves them or a person edits their files. */
export interface SavedToolLimits {
  /** Most saved tools; of more files the last by name are not read. @default 1000 */
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

/** `limits` with their defaults. */
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
