/**
 * Reads the files of a catalog of manifests and toolspecs. Follows no links, skips
 * hidden folders, and only reads files with the path of a manifest or a toolspec.
 */

import { existsSync, type Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, normalize, resolve, sep } from "node:path";

import { documentMaxBytes } from "@toolcrib/document";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { type CatalogFile, layoutOf, manifestPathsOf } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";

/** Maximum number of folder entries that are listed. */
const entriesMaxCount = 200_000;

/** The files found at a path. */
export interface FoundFiles {
  readonly isFolder: boolean;
  readonly files: readonly CatalogFile[];
}

/** Reads the catalog at `path`, a folder or one file of `kind`. Toolspecs include the manifests of the sibling folder. */
export async function readCatalog(
  directory: string,
  path: string,
  kind: "manifest" | "toolspec",
): Promise<FoundFiles> {
  const status = await statusOf(resolve(directory, path), path);
  if (!status.isDirectory()) return { isFolder: false, files: await readLoneFile(directory, path, kind) };
  const folders = [path, ...(kind === "toolspec" ? counterpartsOf(directory, path) : [])];
  const lists = await Promise.all(folders.map((folder) => readFolder(directory, folder)));
  return { isFolder: true, files: lists.flat() };
}

async function statusOf(full: string, shown: string): Promise<Stats> {
  try {
    return await stat(full);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const state = isMissing ? "it does not exist" : reasonOf(error);
    throw new CliError(isMissing ? "CLI_USAGE" : "CLI_FILE_UNUSABLE", `Cannot read "${shown}": ${state}`, {
      hint: "use a folder with manifests and toolspecs, or one file",
    });
  }
}

async function readLoneFile(
  directory: string,
  path: string,
  kind: "manifest" | "toolspec",
): Promise<readonly CatalogFile[]> {
  const full = resolve(directory, path);
  // A layout has at most three path segments.
  const own = { ...(await readFile(full, path, toSlashes(full).split("/").slice(-3).join("/"))), kind };
  if (kind === "manifest") return [own];
  const manifest = manifestPathsOf(toSlashes(full)).find((candidate) => existsSync(candidate));
  if (manifest === undefined) return [own];
  const shown = join(dirname(path), toRelative(dirname(full), manifest));
  const file = await readFile(manifest, shown, manifest.split("/").slice(-3).join("/"));
  return [{ ...file, kind: "manifest" }, own];
}

function toRelative(from: string, to: string): string {
  return dirname(to) === from ? basename(to) : join("..", "..", ...to.split("/").slice(-3));
}

/** Returns the `manifests` folder for `…/toolspecs` or `…/toolspecs/name`, and the reverse. */
function counterpartsOf(directory: string, path: string): readonly string[] {
  const full = resolve(directory, path);
  const others: { readonly [name: string]: string } = { toolspecs: "manifests", manifests: "toolspecs" };
  const own = others[basename(full)];
  const parent = others[basename(dirname(full))];
  const other =
    own !== undefined
      ? join(path, "..", own)
      : parent !== undefined
        ? join(path, "..", "..", parent, basename(full))
        : undefined;
  return other !== undefined && existsSync(resolve(directory, other)) ? [normalize(other)] : [];
}

async function readFolder(directory: string, folder: string): Promise<readonly CatalogFile[]> {
  const full = resolve(directory, folder);
  const tail = toSlashes(full).split("/").slice(-2);
  const isInside = tail.some((part) => part === "manifests" || part === "toolspecs");
  const prefix = isInside ? `${tail.join("/")}/` : "";
  const found = await listFiles(full, folder);
  const files: CatalogFile[] = [];
  const manifests = manifestsBeside(found);
  for (const relative of found) {
    const path = `${prefix}${toSlashes(relative)}`;
    const isPlaced = layoutOf(path) !== undefined;
    if (!isPlaced && !manifests.has(relative)) continue;
    const file = await readFile(join(full, relative), join(folder, relative), path);
    files.push(isPlaced ? file : { ...file, kind: "manifest" });
  }
  return files;
}

/** Returns the files among `found` that are the manifest of a toolspec in the same folder. */
function manifestsBeside(found: readonly string[]): ReadonlySet<string> {
  const all = new Set(found);
  const manifests = new Set<string>();
  for (const relative of found) {
    if (!/\.toolspec\.[^.]+$/i.test(relative)) continue;
    const manifest = manifestPathsOf(toSlashes(relative)).find((candidate) => all.has(toNative(candidate)));
    if (manifest !== undefined) manifests.add(toNative(manifest));
  }
  return manifests;
}

/** Lists the files below `full` as sorted relative paths. */
async function listFiles(full: string, shown: string): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [""];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(full, folder), { withFileTypes: true });
    count += entries.length;
    if (count > entriesMaxCount) {
      const message = `Cannot read "${shown}": it has more than ${entriesMaxCount.toLocaleString("en")} files and folders`;
      throw new CliError("CLI_USAGE", message, { hint: "use the folder of the catalog" });
    }
    for (const entry of entries) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else if (entry.isFile()) files.push(join(folder, entry.name));
    }
  }
  return files.sort();
}

async function readFile(full: string, name: string, path: string): Promise<CatalogFile> {
  try {
    const { bytes } = await readRegularFile(full, documentMaxBytes);
    return { path, name, text: bytes };
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${name}": ${reasonOf(error)}`);
  }
}

function toNative(path: string): string {
  return sep === "/" ? path : path.split("/").join(sep);
}

function toSlashes(path: string): string {
  return sep === "/" ? path : path.split(sep).join("/");
}
