/** Limits of saved tools. Data only. */

/** Limits of saved tools, for agents and for files that are edited by hand. */
export interface SavedToolLimits {
  /** Maximum number of saved tools. Of more files, the last ones by name are not read. @default 1000 */
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
