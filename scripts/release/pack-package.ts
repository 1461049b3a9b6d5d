/** Packs a folder into the archive that npm installs and publishes. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** An archive of a package. */
export interface PackedPackage {
  /** Its path. */
  readonly tarball: string;
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  /** Bytes of its files. */
  readonly unpackedBytes: number;
  readonly files: number;
  /** Its SHA-512, as lock files of npm write it. */
  readonly integrity: string;
}

/** Packs `folder`, which has a package.json, into `destination`. @throws {Error} what npm reports */
export function packPackage(folder: string, destination: string): PackedPackage {
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["pack", folder, "--json", "--ignore-scripts", "--pack-destination", destination],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`npm pack ${folder} failed:\n${stderr}`);
  const parsed = JSON.parse(stdout) as unknown;
  // One list in older versions of npm, an object by name in newer ones.
  const [packed] = (Array.isArray(parsed) ? parsed : Object.values(parsed as object)) as readonly {
    readonly filename: string;
    readonly name: string;
    readonly version: string;
    readonly size: number;
    readonly unpackedSize: number;
    readonly entryCount: number;
    readonly integrity: string;
  }[];
  if (packed === undefined) throw new Error(`npm pack ${folder} reported no archive`);
  const { filename, name, version, size, unpackedSize, entryCount, integrity } = packed;
  return {
    tarball: join(destination, filename),
    name,
    version,
    bytes: size,
    unpackedBytes: unpackedSize,
    files: entryCount,
    integrity,
  };
}
