/**
 * Compares the folder of an installed package with its record: exactly the recorded files, as
 * regular files, with their digests. Reads each file once, through no link, and never more of it than was
 * recorded. Changes nothing.
 */

import { createHash } from "node:crypto";
import { closeSync, type Dirent, fstatSync, lstatSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errnoOf, NotRegularError, openRegularFile, reasonOf } from "@toolcrib/files";
import type { PackageFile, PackageFiles } from "@toolcrib/mcpkg";
import type { RecordedFile } from "./install-record.ts";

/** Greatest number of differences that are reported. */
const differencesMaxCount = 5;
/** Bytes of files that are read and hashed at a time: a few milliseconds. */
const stepBytes = 4 * 1024 * 1024;

/** The findings of a comparison. */
export interface Comparison {
  /** The files as they were compared; empty where there are differences, or where they were not kept. */
  readonly files: PackageFiles;
  /** Each difference in words, at most five; empty: the folder has exactly the recorded files. */
  readonly differences: readonly string[];
}

/**
 * Compares `folder` with `recorded`.
 *
 * @param keepsFiles whether the contents are returned. @default false
 */
export function compareFiles(
  folder: string,
  recorded: readonly RecordedFile[],
  keepsFiles = false,
): Comparison {
  const steps = comparing(folder, recorded, keepsFiles);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `compareFiles`, in steps of 4 MiB between which other work is done. */
export async function compareFilesInSteps(
  folder: string,
  recorded: readonly RecordedFile[],
): Promise<Comparison> {
  const steps = comparing(folder, recorded, false);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Compares, and pauses after each 4 MiB. */
function* comparing(
  folder: string,
  recorded: readonly RecordedFile[],
  keepsFiles: boolean,
): Generator<undefined, Comparison> {
  let bytes = 0;
  const found = listFolder(folder, recorded);
  const differences = [...found.differences];
  const files = new Map<string, PackageFile>();
  for (const file of recorded) {
    if (differences.length >= differencesMaxCount) break;
    if (!found.paths.has(file.path)) {
      if (!found.isCut) differences.push(`"${file.path}" is missing`);
      continue;
    }
    const read = yield* readRecorded(join(folder, ...file.path.split("/")), file);
    bytes += file.bytes;
    if (bytes >= stepBytes) {
      bytes = 0;
      yield;
    }
    if (typeof read === "string") differences.push(`"${file.path}" ${read}`);
    else if (keepsFiles) files.set(file.path, read);
  }
  const isSame = differences.length === 0;
  return { files: isSame ? files : new Map(), differences: differences.slice(0, differencesMaxCount) };
}

/**
 * Identifies the state of `folder` without reading its files: size, inode and times of each recorded file.
 * Undefined where the folder has other files than the recorded ones. A program cannot set the time of the
 * last change (ctime), so that files with the same text have the same content, except for a change
 * within the resolution of that time.
 */
export function statFiles(folder: string, recorded: readonly RecordedFile[]): string | undefined {
  const { paths, differences } = listFolder(folder, recorded);
  if (differences.length > 0 || paths.size !== recorded.length) return undefined;
  const states: string[] = [];
  for (const { path } of recorded) {
    const status = lstatSync(join(folder, ...path.split("/")), { bigint: true, throwIfNoEntry: false });
    if (status === undefined) return undefined;
    const { dev, ino, size, mode, mtimeNs, ctimeNs } = status;
    states.push([dev, ino, size, mode, mtimeNs, ctimeNs].join(" "));
  }
  return states.join("\n");
}

interface Listing {
  readonly paths: ReadonlySet<string>;
  readonly differences: readonly string[];
  /** Whether not everything was listed, so that a path can be missing here. */
  readonly isCut: boolean;
}

/** Lists a folder, and stops after a few entries that are not recorded. */
function listFolder(folder: string, recorded: readonly RecordedFile[]): Listing {
  const files = new Set(recorded.map(({ path }) => path));
  const folders = new Set([...files].flatMap(foldersAbove));
  const paths = new Set<string>();
  const differences: string[] = [];
  const listing = (isCut: boolean) => ({ paths, differences, isCut });
  const reason = problemOfFolder(folder);
  if (reason !== undefined) return { paths, differences: [reason], isCut: true };
  const queue = [""];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    let entries: readonly Dirent[];
    try {
      entries = readdirSync(join(folder, at), { withFileTypes: true });
    } catch (error) {
      differences.push(`"${at === "" ? "." : at}" cannot be read: ${reasonOf(error)}`);
      return listing(true);
    }
    for (const entry of entries) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory() && folders.has(path)) queue.push(path);
      else if (files.has(path)) paths.add(path);
      else differences.push(`"${path}" was added`);
      if (differences.length >= differencesMaxCount) return listing(true);
    }
  }
  return listing(false);
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

function problemOfFolder(folder: string): string | undefined {
  try {
    const status = lstatSync(folder);
    if (status.isDirectory()) return undefined;
    return status.isSymbolicLink() ? "its folder is a symbolic link" : "its folder is not a folder";
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "its folder is missing" : `its folder ${reasonOf(error)}`;
  }
}

/** Returns the file, or how it differs. */
function* readRecorded(
  path: string,
  { bytes: size, sha256, isExecutable }: RecordedFile,
): Generator<undefined, PackageFile | string> {
  let descriptor: number | undefined;
  try {
    descriptor = openRegularFile(path);
    const status = fstatSync(descriptor);
    if (status.size !== size) return `has ${status.size} bytes instead of ${size}`;
    // Windows has no permission bits.
    const isOther = process.platform !== "win32" && ((status.mode & 0o100) !== 0) !== isExecutable;
    if (isOther) return isExecutable ? "is not executable any more" : "became executable";
    const bytes = Buffer.alloc(size);
    const digest = createHash("sha256");
    let length = 0;
    while (length < size) {
      const count = readSync(descriptor, bytes, length, Math.min(size - length, stepBytes), null);
      if (count === 0) break;
      digest.update(bytes.subarray(length, length + count));
      length += count;
      if (length < size) yield;
    }
    return length === size && digest.digest("hex") === sha256 ? { bytes, isExecutable } : "has other content";
  } catch (error) {
    if (error instanceof NotRegularError) return `is ${error.what}`;
    return `cannot be read: ${reasonOf(error)}`;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
