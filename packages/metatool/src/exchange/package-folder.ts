/**
 * Reads and writes the files of a package. Reads only regular files below the folder,
 * by relative paths, through no link, and within limits. Writes all files or none, to
 * a new folder.
 */

import { lstat, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { createDirectory, errnoOf, FilesError, reasonOf } from "@toolcrib/files";
import { MetatoolError } from "../metatool-error.ts";
import { nodeFiles } from "../saved/saved-files.ts";

/** Maximum number of levels of folders, and longest path. */
const maxDepth = 8;
const pathMaxLength = 240;
/** Maximum number of bytes of one file. */
const fileMaxBytes = 1024 * 1024;
/** Maximum number of files of a package. */
export const packageFilesMaxCount = 500;

/** The files that were read, and the findings about others. */
export interface PackageTexts {
  readonly texts: Map<string, string>;
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads `paths` of the folder into `into`. An invalid path or file is a finding. A missing
 * file is not: the caller decides whether it is required.
 *
 * @throws {MetatoolError} `METATOOL_PACKAGE_UNUSABLE` when it is not a folder or cannot be read.
 */
export async function readPackageFiles(
  folder: string,
  paths: readonly string[],
  into: PackageTexts,
): Promise<void> {
  const root = await realFolder(folder);
  for (const path of new Set(paths)) {
    if (into.texts.has(path)) continue;
    const refused = lintPath(path);
    const text = refused === undefined ? await readOne(root, path, into.diagnostics) : undefined;
    if (refused !== undefined) into.diagnostics.push(finding(path, refused));
    if (text !== undefined) into.texts.set(path, text);
  }
}

async function realFolder(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    if ((await lstat(root)).isDirectory()) return root;
    throw unusable(folder, "it is not a folder");
  } catch (cause) {
    if (cause instanceof MetatoolError) throw cause;
    throw unusable(folder, reasonOf(cause), cause);
  }
}

/** Returns why a path is not valid in a package. */
function lintPath(path: string): string | undefined {
  if (path === "" || path.length > pathMaxLength) return `a path has 1 to ${pathMaxLength} characters`;
  if (/[\\:\u0000-\u001f\u007f]/.test(path))
    return "a path has no backslash, no colon and no control characters";
  const parts = path.split("/");
  if (parts.length > maxDepth) return `a path has at most ${maxDepth} parts`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return "a path is relative, with / between its parts, and stays in the folder";
  }
  return undefined;
}

async function readOne(root: string, path: string, diagnostics: Diagnostic[]): Promise<string | undefined> {
  const file = join(root, ...path.split("/"));
  try {
    // A link can point anywhere, so every link on the path is refused.
    for (let at = file; at !== root; at = dirname(at)) {
      if ((await lstat(at)).isSymbolicLink()) {
        diagnostics.push(finding(path, "it is a link, or its path contains one"));
        return undefined;
      }
    }
    const content = await nodeFiles.read(file, fileMaxBytes);
    if (content.kind === "not-a-file") diagnostics.push(finding(path, "it is not a file"));
    else if (content.kind === "too-large" || content.bytes.length > fileMaxBytes) {
      diagnostics.push(finding(path, `it is longer than ${fileMaxBytes} bytes`));
    } else if (!(await realpath(file)).startsWith(root + sep)) {
      diagnostics.push(finding(path, "it is not in the folder"));
    } else return decode(content.bytes, path, diagnostics);
  } catch (cause) {
    // The caller reports a missing file when it is required.
    if (!["ENOENT", "ENOTDIR"].includes(errnoOf(cause) ?? ""))
      diagnostics.push(finding(path, reasonOf(cause)));
  }
  return undefined;
}

function decode(bytes: Uint8Array, path: string, diagnostics: Diagnostic[]): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    diagnostics.push(finding(path, "it is not UTF-8"));
    return undefined;
  }
}

/**
 * Writes `files` to the folder, which must not exist or be empty.
 *
 * @param randomBytes unpredictable bytes, for the name of the draft.
 * @throws {MetatoolError} `METATOOL_PACKAGE_EXISTS`, `METATOOL_PACKAGE_UNUSABLE`; no file is left behind.
 */
export async function writePackageFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  randomBytes: (count: number) => Uint8Array,
): Promise<void> {
  try {
    await createDirectory({ randomBytes }, folder, files);
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    const { cause, errno = "" } = error;
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errno)) {
      const message = `Cannot export to "${folder}": it exists already`;
      throw new MetatoolError("METATOOL_PACKAGE_EXISTS", message, {
        cause,
        hint: "name a folder that does not exist",
      });
    }
    throw unusable(folder, reasonOf(cause), cause);
  }
}

function unusable(folder: string, reason: string, cause?: unknown): MetatoolError {
  return new MetatoolError("METATOOL_PACKAGE_UNUSABLE", `Cannot use the folder "${folder}": ${reason}`, {
    cause,
  });
}

function finding(path: string, reason: string): Diagnostic {
  const shown = path.slice(0, pathMaxLength);
  const message = `Cannot read ${JSON.stringify(shown)}: ${reason}`;
  return { severity: "error", code: "METATOOL_PACKAGE_INVALID", message, path: shown };
}
