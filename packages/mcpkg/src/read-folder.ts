/**
 * Reads a folder as the files of a package: regular files only, through no link, and
 * within the limits of packages. Names that begin with a dot, and packages at the top, are left
 * out and returned, so that a repository can be packed as it is.
 */

import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { McpkgError } from "./mcpkg-error.ts";
import type { PackageFile, PackageFiles } from "./package-files.ts";
import { entriesMaxCount, packageMaxBytes } from "./package-limits.ts";
import { PathSet } from "./package-path.ts";

/** The files of a folder, and the paths of what was left out. */
export interface FolderFiles {
  readonly files: PackageFiles;
  readonly leftOut: readonly string[];
}

/**
 * Reads the folder.
 *
 * @throws {McpkgError} `MCPKG_FOLDER_UNUSABLE`, `MCPKG_PATH_INVALID`, `MCPKG_ARCHIVE_TOO_LARGE`
 */
export async function readPackageFolder(folder: string): Promise<FolderFiles> {
  const root = await realpath(folder).catch((cause: unknown) => {
    throw unusable(folder, "it cannot be read", cause);
  });
  const files = new Map<string, PackageFile>();
  const leftOut: string[] = [];
  const paths = new PathSet();
  const folders = [""];
  let bytesLeft = packageMaxBytes;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(join(root, at), { withFileTypes: true }).catch((cause: unknown) => {
      throw unusable(join(folder, at), "it is not a folder that can be read", cause);
    });
    for (const entry of entries) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.name.startsWith(".") || (at === "" && entry.name.endsWith(".mcpkg"))) {
        leftOut.push(path);
      } else if (entry.isDirectory()) {
        paths.addFolder(path);
        folders.push(path);
      } else if (entry.isFile()) {
        paths.addFile(path);
        if (files.size >= entriesMaxCount) throw tooLarge(folder, `more than ${entriesMaxCount} files`);
        const file = await readFile(join(root, path), bytesLeft);
        if (file === undefined) throw tooLarge(folder, `more than ${packageMaxBytes} bytes`);
        bytesLeft -= file.bytes.length;
        files.set(path, file);
      } else {
        throw unusable(join(folder, path), "it is a link or a device; a package has regular files only");
      }
    }
  }
  return { files, leftOut: leftOut.toSorted() };
}

/** Reads a file; `undefined` where it has more than `maxBytes`. */
async function readFile(path: string, maxBytes: number): Promise<PackageFile | undefined> {
  let file: FileHandle | undefined;
  try {
    // It could have been replaced by a link or a pipe after the folder was listed.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await file.stat();
    if (!status.isFile()) throw unusable(path, "it is no regular file any more");
    if (status.size > maxBytes) return undefined;
    const bytes = await file.readFile();
    return bytes.length > maxBytes ? undefined : { bytes, isExecutable: (status.mode & 0o111) !== 0 };
  } catch (cause) {
    if (cause instanceof McpkgError) throw cause;
    throw unusable(path, (cause as Error).message, cause);
  } finally {
    await file?.close();
  }
}

function unusable(path: string, reason: string, cause?: unknown): McpkgError {
  return new McpkgError("MCPKG_FOLDER_UNUSABLE", `Cannot read "${path}": ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}

function tooLarge(folder: string, what: string): McpkgError {
  return new McpkgError("MCPKG_ARCHIVE_TOO_LARGE", `Cannot pack "${folder}": it has ${what}`, {
    hint: "leave out what the tool does not need; names that begin with a dot are left out",
  });
}
