/** The limits of a package, with their defaults in one place. */

/** Limits of reading and writing packages. */
export interface PackageLimits {
  /** Bytes of the archive, and of all files together. @default 67,108,864 (64 MiB) */
  readonly maxBytes?: number;
  /** Number of entries of the archive, folders included. @default 500 */
  readonly maxEntries?: number;
  /** Greatest ratio of the size of a file to that of its compressed form, for files of more than 64 KiB. @default 100 */
  readonly maxRatio?: number;
}

/** `PackageLimits` with defaults. */
export type ResolvedPackageLimits = Required<PackageLimits>;

/** Returns `limits` with defaults. */
export function resolvePackageLimits(limits: PackageLimits = {}): ResolvedPackageLimits {
  return {
    maxBytes: limits.maxBytes ?? 64 * 1024 * 1024,
    maxEntries: limits.maxEntries ?? 500,
    maxRatio: limits.maxRatio ?? 100,
  };
}

/** Size in bytes up to which the ratio of a file is not limited: short texts can repeat a lot. */
export const ratioFreeBytes = 64 * 1024;
