/**
 * Finds and reads the manifest of an adopted server and its lock, by a name in the
 * catalog or by a path. The lock is data of its own, so that a manifest stays
 * readable:
 * manifests/<name>/<version>.yaml    locks/<name>/<version>.json (npm) or .txt (Python)
 * <any>.yaml                         <any>.lock.json or <any>.lock.txt
 * Never interprets a manifest or a lock.
 */

import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { nearestName } from "@toolcrib/diagnostics";
import { documentMaxBytes, listOf } from "@toolcrib/document";
import { explainFileFailure } from "@toolcrib/secrets";
import { quote } from "./display-source.ts";
import {
  compareVersions,
  isAbsence,
  listCatalogNames,
  manifestEndings,
  type ToolspecFilesDeps,
} from "./toolspec-files.ts";

/** A file that was read. */
export interface ReadText {
  /** Its path, for people. */
  readonly name: string;
  readonly text: Uint8Array;
}

/** The manifest of an adopted server and, where there is one, its lock. */
export interface AdoptedFiles {
  readonly manifest: ReadText;
  readonly lock: ReadText | undefined;
  /** Where the lock is, or belongs: the path without its ending. */
  readonly lockStem: string;
}

/** Why the files are missing. */
export interface AdoptedFilesProblem {
  readonly code: "CONFIG_MANIFEST_NOT_FOUND" | "CONFIG_MANIFEST_UNREADABLE";
  readonly message: string;
  readonly hint: string;
}

/** Endings of locks: those of npm, and those of Python. */
const lockEndings = [".json", ".txt"] as const;
/** Bytes of a lock. */
const lockMaxBytes = 4 * 1024 * 1024;

/** Whether a reference is a path, and not the name of an entry of the catalog. */
export function isManifestPath(reference: string): boolean {
  return /[\\/]/.test(reference) || /\.(?:ya?ml|json)$/i.test(reference);
}

/** Reads `NAME` or `NAME@VERSION` of the catalog; without a version the newest manifest. */
export async function readCatalogManifest(
  reference: string,
  deps: ToolspecFilesDeps,
): Promise<AdoptedFiles | AdoptedFilesProblem> {
  const [, name = reference, version] = /^([a-z0-9-]+)@([0-9.]+)$/.exec(reference) ?? [];
  const { catalogFolder: folder } = deps;
  if (folder === undefined) {
    return notFound(
      `Cannot find ${quote(name)}: there is no catalog`,
      "write the path of a manifest, or set TOOLCRIB_CATALOG to the folder of a catalog",
    );
  }
  const versions = versionsOf(folder, name);
  const chosen = version ?? versions[0];
  if (chosen === undefined) {
    const near = nearestName(name, await listCatalogNames(folder));
    const hint = near === undefined ? "see toolcrib catalog list" : `did you mean ${near}?`;
    return notFound(`The catalog has no manifest ${quote(name)}`, hint);
  }
  for (const ending of manifestEndings) {
    const path = join(folder, "manifests", name, `${chosen}${ending}`);
    const found = await readAdoptedAt(path, deps);
    if (!("code" in found) || found.code !== "CONFIG_MANIFEST_NOT_FOUND") return found;
  }
  return notFound(
    `The catalog has no version ${chosen} of ${quote(name)}`,
    versions.length === 0 ? "see toolcrib catalog list" : `it has ${listOf(versions)}`,
  );
}

/** Reads the manifest at `path` and its lock. */
export async function readAdoptedAt(
  path: string,
  { readFile }: ToolspecFilesDeps,
): Promise<AdoptedFiles | AdoptedFilesProblem> {
  try {
    if ((await stat(path)).isDirectory()) {
      return notFound(`${quote(path)} is a folder`, "write the path of the manifest");
    }
    const manifest = { name: path, text: (await readFile(path, documentMaxBytes)).bytes };
    const lockStem = lockStemOf(path);
    for (const ending of lockEndings) {
      const name = `${lockStem}${ending}`;
      const lock = await readFile(name, lockMaxBytes).catch((error: unknown) => {
        if (isAbsence(error)) return undefined;
        throw error;
      });
      if (lock !== undefined) return { manifest, lock: { name, text: lock.bytes }, lockStem };
    }
    return { manifest, lock: undefined, lockStem };
  } catch (error) {
    const message = `Cannot read ${quote(path)}: ${explainFileFailure(error)}`;
    if (isAbsence(error))
      return notFound(message, "write the path of a manifest, or a name that toolcrib catalog list shows");
    return { code: "CONFIG_MANIFEST_UNREADABLE", message, hint: "check the permissions of the file" };
  }
}

/** The path of a lock without its ending. */
function lockStemOf(path: string): string {
  const folder = dirname(path);
  const stem = basename(path).replace(/\.(?:ya?ml|json)$/i, "");
  const isPlaced = basename(dirname(folder)) === "manifests" && /^\d+\.\d+\.\d+$/.test(stem);
  if (!isPlaced) return join(folder, `${stem}.lock`);
  return [dirname(dirname(folder)), "locks", basename(folder), stem].join(sep);
}

/** Returns the versions of `name` in the catalog that have no toolspec of their own, newest first. */
function versionsOf(folder: string, name: string): readonly string[] {
  if (!/^[a-z0-9][a-z0-9-]{0,127}$/.test(name)) return [];
  let names: readonly string[];
  try {
    names = readdirSync(join(folder, "manifests", name));
  } catch {
    return [];
  }
  const versions = names.flatMap((file) => /^(\d+\.\d+\.\d+)\.(?:ya?ml|json)$/.exec(file)?.[1] ?? []);
  return [...new Set(versions)].sort((a, b) => compareVersions(b, a));
}

function notFound(message: string, hint: string): AdoptedFilesProblem {
  return { code: "CONFIG_MANIFEST_NOT_FOUND", message, hint };
}
