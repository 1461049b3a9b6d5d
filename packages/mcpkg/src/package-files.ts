/** The files of a package in memory. Types only. */

/** A file of a package. */
export interface PackageFile {
  readonly bytes: Uint8Array;
  /** Whether it is a program that can be started by its path. */
  readonly isExecutable: boolean;
}

/** The files of a package by their paths. Folders have no entry. */
export type PackageFiles = ReadonlyMap<string, PackageFile>;
