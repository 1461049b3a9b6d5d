/** The receipt of a fetched package: what was fetched, where it lies, and what its files were. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageKind } from "./package-run.ts";

/** One package with its version and integrity, as its lock names it. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-…` (npm), `sha256:…` (Python), `h1:…` (Go). */
  readonly integrity: string;
}

/** A fetched package and the tree of its dependencies. */
export interface Receipt {
  readonly version: 1;
  readonly kind: PackageKind;
  /** As the configuration names them. */
  readonly packages: readonly string[];
  readonly command: string | undefined;
  readonly python: string | undefined;
  /**
   * Of a package that a manifest adopts: SHA-256 of the lock that it was installed by, or of the recorded Go module;
   * `none` where the manifest records nothing. @default no manifest adopts it
   */
  readonly recorded?: string | undefined;
  /** The packages and all of their dependencies. */
  readonly locked: readonly LockedPackage[];
  /** Folder of the files, relative to the folder of the receipt. */
  readonly folder: string;
  /** The program, relative to that folder. */
  readonly program: string;
  /** Folders outside that links of the files lead to. */
  readonly links?: readonly string[];
  /** SHA-256 over paths, modes, link targets and contents of all files, in hexadecimal digits. */
  readonly treeDigest: string;
  readonly files: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/** Name of the file in the folder of a package. */
export const receiptName = "receipt.json";

/** Reads the receipt in `folder`; undefined where there is none that this version understands. */
export async function readReceipt(folder: string): Promise<Receipt | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, receiptName), "utf8");
  } catch {
    // Nothing was fetched here, or not to its end.
    return undefined;
  }
  try {
    const receipt = JSON.parse(text) as Receipt;
    return receipt.version === 1 ? receipt : undefined;
  } catch {
    // Replaced by the next fetch.
    return undefined;
  }
}

/** The packages that were asked for, with their versions: `@scope/name 1.2.3`. */
export function describeVersions({ packages, locked }: Receipt): string {
  return packages
    .map((text) => {
      const name = nameOf(text);
      const found = locked.find((one) => one.name === name);
      return found === undefined ? text : `${found.name} ${found.version}`;
    })
    .join(", ");
}

/** The name in a package as it was named, without version and extras. Names of Python packages are normalized (PEP 503). */
function nameOf(text: string): string {
  const name = /^(@?[^@[<>=!~\s]+)/.exec(text)?.[1] ?? text;
  return name.includes("/") ? name : name.replace(/[-_.]+/g, "-");
}
