/**
 * Finds and reads the two files of a toolspec, by a name in the catalog or by a
 * path. Reads only files that the operator named and their counterparts, and
 * reports why a pair is missing. Never interprets the files: `@toolcrib/toolspec`
 * does, and is loaded only when there is a pair to read.
 */

import { type Dirent, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { didYouMean } from "@toolcrib/diagnostics";
import { documentMaxBytes, listOf } from "@toolcrib/document";
import type { ReadFile } from "@toolcrib/files";
import { explainFileFailure } from "@toolcrib/secrets";
import type { CatalogFile } from "@toolcrib/toolspec";
import { quote } from "./display-source.ts";

/** Dependencies of finding toolspecs. */
export interface ToolspecFilesDeps {
  readonly readFile: ReadFile;
  /** Folder of the catalog, with `manifests` and, in it or next to it, the toolspecs. @default no catalog */
  readonly catalogFolder?: string | undefined;
}

/** The bytes of a manifest and its toolspec, for `lintCatalog`. */
export interface PairFiles {
  readonly manifest: CatalogFile & { readonly name: string; readonly text: Uint8Array };
  readonly toolspec: CatalogFile & { readonly name: string; readonly text: Uint8Array };
}

/** The reason why a pair is missing. */
export interface PairProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Endings of manifests and toolspecs. */
export const manifestEndings = [".yaml", ".yml", ".json"] as const;
const endings = manifestEndings;
const versionFile = /^([0-9]+\.[0-9]+\.[0-9]+)\.(?:ya?ml|json)$/;

/** Returns the names in the catalog at `folder`, sorted; empty when the folder does not exist. */
export async function listCatalogNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(folder, "manifests"), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();
}

/** Returns the versions of `name` in the catalog at `folder` that have a toolspec, newest first. */
export function listCatalogVersions(folder: string, name: string): readonly string[] {
  const beside = namesIn(join(folder, "manifests", name));
  const apart = namesIn(join(folder, "toolspecs", name));
  const hasToolspec = (version: string) =>
    endings.some((ending) => beside.has(`${version}.toolspec${ending}`) || apart.has(`${version}${ending}`));
  const versions = [...beside].flatMap((file) => versionFile.exec(file)?.[1] ?? []);
  return [...new Set(versions)].filter(hasToolspec).sort((a, b) => compareVersions(b, a));
}

/** Lists a folder synchronously: for hundreds of small folders, waiting for each takes longer than reading it. */
function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder));
  } catch {
    return new Set();
  }
}

/** Compares two versions MAJOR.MINOR.PATCH, for sorting. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (const [at, part] of (left ?? []).entries()) {
    const difference = part - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Reads the pair `name` of the catalog; without a version the newest. */
export async function readCatalogPair(
  name: string,
  version: string | undefined,
  deps: ToolspecFilesDeps,
): Promise<PairFiles | PairProblem> {
  const folder = deps.catalogFolder;
  if (folder === undefined) {
    return notFound(
      `Cannot find ${quote(name)}: there is no catalog`,
      "write path: with the manifest or toolspec, or set TOOLCRIB_CATALOG to the folder of a catalog",
    );
  }
  const versions = listCatalogVersions(folder, name);
  const chosen = version ?? versions[0];
  if (chosen === undefined) {
    const names = await listCatalogNames(folder);
    return notFound(
      `The catalog has no toolspec ${quote(name)}`,
      didYouMean(name, names) ?? "see toolcrib catalog list",
    );
  }
  if (!versions.includes(chosen)) {
    return notFound(
      `The catalog has no version ${chosen} of ${quote(name)}`,
      versions.length === 0 ? "see toolcrib catalog list" : `it has ${listOf(versions)}`,
    );
  }
  const manifest = await firstOf(
    endings.map((ending) => join("manifests", name, `${chosen}${ending}`)),
    folder,
    deps,
  );
  const toolspec = await firstOf(
    endings.flatMap((ending) => [
      join("toolspecs", name, `${chosen}${ending}`),
      join("manifests", name, `${chosen}.toolspec${ending}`),
    ]),
    folder,
    deps,
  );
  if (manifest === undefined || toolspec === undefined) {
    return notFound(`The catalog has no version ${chosen} of ${quote(name)}`, "see toolcrib catalog list");
  }
  return { manifest: { ...manifest, kind: "manifest" }, toolspec: { ...toolspec, kind: "toolspec" } };
}

type ReadFileEntry = { readonly path: string; readonly name: string; readonly text: Uint8Array };

/** Reads the first of `paths` in `folder` that exists. */
async function firstOf(
  paths: readonly string[],
  folder: string,
  deps: ToolspecFilesDeps,
): Promise<ReadFileEntry | undefined> {
  for (const path of paths) {
    const name = join(folder, path);
    const { bytes } = await deps.readFile(name, documentMaxBytes).catch((error: unknown) => {
      if (isAbsence(error)) return { bytes: undefined };
      throw error;
    });
    if (bytes !== undefined) return { path: path.split(sep).join("/"), name, text: bytes };
  }
  return undefined;
}

/** Reads the pair at `path`: one of its two files, or a folder that contains both. */
export async function readPairAt(path: string, deps: ToolspecFilesDeps): Promise<PairFiles | PairProblem> {
  try {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      if (errnoOf(error) === "ENOTDIR") return undefined;
      throw error;
    });
    return entries === undefined ? await readPairOf(path, deps) : await readPairIn(path, entries, deps);
  } catch (error) {
    const code = isAbsence(error) ? "CONFIG_TOOLSPEC_NOT_FOUND" : "CONFIG_TOOLSPEC_UNREADABLE";
    return {
      code,
      message: `Cannot read ${quote(path)}: ${explainFileFailure(error)}`,
      hint: "write the path of a manifest, of a toolspec, or of a folder with one pair",
    };
  }
}

/** Returns the kind of a file: by its name, or else by a field that only one of the two kinds has. */
function kindOf({ name, text }: FoundFile): "manifest" | "toolspec" | undefined {
  const stem = basename(name)
    .replace(/\.(?:ya?ml|json)$/i, "")
    .toLowerCase();
  if (stem === "toolspec" || stem.endsWith(".toolspec")) return "toolspec";
  if (stem === "manifest" || stem.endsWith(".manifest")) return "manifest";
  const written = new TextDecoder().decode(text);
  if (/^\s*["']?baseUrl["']?\s*:/m.test(written) || /[{,]\s*"baseUrl"\s*:/.test(written)) return "toolspec";
  const isManifest =
    /^\s*["']?(?:image|tier)["']?\s*:/m.test(written) || /[{,]\s*"(?:image|tier)"\s*:/.test(written);
  return isManifest ? "manifest" : undefined;
}

interface FoundFile {
  readonly name: string;
  readonly text: Uint8Array;
}

async function readFound(name: string, deps: ToolspecFilesDeps): Promise<FoundFile> {
  const { bytes } = await deps.readFile(name, documentMaxBytes);
  return { name, text: bytes };
}

function toPair(manifest: FoundFile, toolspec: FoundFile): PairFiles {
  // The same path for both: they are a pair under any names.
  return {
    manifest: { ...manifest, path: "pair", kind: "manifest" },
    toolspec: { ...toolspec, path: "pair", kind: "toolspec" },
  };
}

/** Maximum number of files that are read in a folder, and the deepest subfolder. */
const folderMaxFiles = 50;
const folderMaxDepth = 3;

async function readPairIn(
  folder: string,
  entries: Dirent[],
  deps: ToolspecFilesDeps,
): Promise<PairFiles | PairProblem> {
  const names = await listFiles(folder, entries, folderMaxDepth);
  if (names.length > folderMaxFiles) {
    return notFound(
      `Cannot search ${quote(folder)}: it has more than ${folderMaxFiles} files`,
      "write the path of the toolspec",
    );
  }
  const files = await Promise.all(names.map((name) => readFound(name, deps)));
  const manifests = files.filter((file) => kindOf(file) === "manifest");
  const toolspecs = files.filter((file) => kindOf(file) === "toolspec");
  const [manifest] = manifests;
  const [toolspec] = toolspecs;
  if (manifest !== undefined && toolspec !== undefined && manifests.length + toolspecs.length === 2) {
    return toPair(manifest, toolspec);
  }
  return notFound(
    `${quote(folder)} has ${counted(manifests.length, "manifest")} and ${counted(toolspecs.length, "toolspec")}, but must have one of each`,
    manifests.length + toolspecs.length > 2
      ? "write the path of the toolspec"
      : "put both files into the folder",
  );
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

async function listFiles(folder: string, entries: Dirent[], depth: number): Promise<readonly string[]> {
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 1) {
      files.push(...(await listFiles(path, await readdir(path, { withFileTypes: true }), depth - 1)));
    } else if (entry.isFile() && /\.(?:ya?ml|json)$/i.test(entry.name)) files.push(path);
    if (files.length > folderMaxFiles) break;
  }
  return files;
}

async function readPairOf(path: string, deps: ToolspecFilesDeps): Promise<PairFiles | PairProblem> {
  const own = await readFound(path, deps);
  const kind = kindOf(own);
  if (kind === undefined) {
    return notFound(
      `${quote(path)} is neither a manifest nor a toolspec`,
      "a manifest has image and tier, a toolspec has baseUrl",
    );
  }
  const others = kind === "toolspec" ? await manifestsFor(path) : toolspecsFor(path);
  for (const other of others) {
    const found = await readFound(other, deps).catch((error: unknown) => {
      if (isAbsence(error)) return undefined;
      throw error;
    });
    if (found === undefined) continue;
    return kind === "toolspec" ? toPair(found, own) : toPair(own, found);
  }
  const missing = kind === "toolspec" ? "manifest" : "toolspec";
  return notFound(`Cannot find the ${missing} of ${quote(path)}`, `put it at ${others[0] ?? missing}`);
}

async function manifestsFor(path: string): Promise<readonly string[]> {
  const { manifestPathsOf } = await import("@toolcrib/toolspec");
  const placed = manifestPathsOf(path.split(sep).join("/"));
  return [...placed, ...endings.map((ending) => join(dirname(path), `manifest${ending}`))];
}

function toolspecsFor(path: string): readonly string[] {
  const folder = dirname(path);
  const stem = basename(path).replace(/\.(?:ya?ml|json)$/i, "");
  const slashed = `/${folder.split(sep).join("/")}/`;
  const root = slashed.lastIndexOf("/manifests/");
  const apart =
    root === -1
      ? []
      : endings.map((ending) =>
          `${slashed.slice(0, root)}/toolspecs/${slashed.slice(root + "/manifests/".length)}${stem}${ending}`.slice(
            1,
          ),
        );
  return [
    ...endings.map((ending) => join(folder, `${stem}.toolspec${ending}`)),
    ...apart,
    ...endings.map((ending) => join(folder, `toolspec${ending}`)),
  ];
}

function notFound(message: string, hint: string): PairProblem {
  return { code: "CONFIG_TOOLSPEC_NOT_FOUND", message, hint };
}

/** Whether an error says that a file does not exist. */
export function isAbsence(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function errnoOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
