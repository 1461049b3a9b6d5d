/** The limits of a package. */

/** Bytes of the archive, and of all files together: 64 MiB. */
export const packageMaxBytes = 64 * 1024 * 1024;
/** Number of entries of the archive, folders included. */
export const entriesMaxCount = 500;
/** Greatest ratio of the size of a file to that of its compressed form, where the file is not small. */
export const maxRatio = 100;
/** Size in bytes up to which the ratio of a file is not limited: short texts can repeat a lot. */
export const ratioFreeBytes = 64 * 1024;

/** Limits of an archive. */
export interface ArchiveLimits {
  /** Bytes of the archive, and of all files together. */
  readonly maxBytes: number;
  /** Number of entries, folders included. */
  readonly entriesMaxCount: number;
  /** Number of parts of a path. */
  readonly partsMaxCount: number;
}

/** The limits of packages. */
export const packageLimits: ArchiveLimits = { maxBytes: packageMaxBytes, entriesMaxCount, partsMaxCount: 8 };
