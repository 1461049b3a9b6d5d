/** The common parts of the recipes of the three registries. */

import type { PackageRun } from "./package-run.ts";
import type { LockedPackage } from "./receipt.ts";

/** One program of a fetch, which runs in a sandbox. */
export interface FetchStep {
  /** A path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** In addition to what every fetch gets. */
  readonly env?: { readonly [name: string]: string };
  /** Whether it needs no registry; it has no network then. @default false */
  readonly isLocal?: boolean;
}

/** Dependencies of a recipe. */
export interface FetchWorkplace {
  /** An empty folder, the only one that the steps can write. */
  readonly folder: string;
  /** Removed after the fetch: caches of the tools. */
  readonly cache: string;
  /** The program of the runner (`/usr/bin/npx`). */
  readonly runner: string;
  /**
   * Runs a step and returns its standard output.
   *
   * @throws {RunnersError} `PACKAGE_FETCH_FAILED` when it does not exit with 0, with its last error.
   */
  run(step: FetchStep): Promise<string>;
  /** Returns the number of bytes that the steps got from the network so far; 0 where they run without a sandbox. */
  receivedBytes(): number;
}

/** A fetched package. */
export interface FetchedPackage {
  /** Path of the program, relative to the folder. */
  readonly program: string;
  readonly locked: readonly LockedPackage[];
  /** Folders outside that its links lead to: the Python of a virtual environment. @default none */
  readonly links?: readonly string[];
}

/** Fetches the packages of `run`. @throws {RunnersError} */
export type FetchRecipe = (run: PackageRun, workplace: FetchWorkplace) => Promise<FetchedPackage>;

/** Name of the folder of caches in the folder of a fetch. */
export const cacheName = ".cache";
