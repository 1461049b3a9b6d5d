/**
 * Creates a directory with all its files, or nothing: the files are written to a
 * draft directory next to the target, which is renamed when it is complete.
 */

import { mkdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { nodeFileSteps } from "./file-steps.ts";
import { toUnwritable, type WriteDeps } from "./replace-file.ts";

/** Properties of the files of a new directory. */
export interface DirectoryOptions {
  /** Permission bits of the files; the umask of the process may clear some. @default 0o600 */
  readonly fileMode?: number;
}

/**
 * Creates the directory `path` with `files`. The path must not exist, or be an
 * empty directory. A killed process leaves its draft (`<path>.<digits>.draft`).
 *
 * @param files contents by relative path, with `/` between the parts; a list is the parts of one content.
 * @throws {FilesError} `FILE_UNWRITABLE`, with `errno` `ENOTEMPTY`, `EEXIST` or `ENOTDIR` when the path is taken; nothing is left behind.
 */
export async function createDirectory(
  { randomBytes, steps = nodeFileSteps }: WriteDeps,
  path: string,
  files: ReadonlyMap<string, string | readonly Uint8Array[]>,
  { fileMode = 0o600 }: DirectoryOptions = {},
): Promise<void> {
  const target = resolve(path);
  const draft = `${target}.${Buffer.from(randomBytes(8)).toString("hex")}.draft`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await mkdir(draft);
    for (const [name, content] of files) {
      const file = join(draft, ...name.split("/"));
      await mkdir(dirname(file), { recursive: true });
      const created = await steps.create(file, fileMode);
      try {
        for (const part of typeof content === "string" ? [Buffer.from(content)] : content)
          await created.write(part);
        await created.sync();
      } finally {
        await created.close();
      }
    }
    // Replaces an empty directory, and nothing else.
    await steps.rename(draft, target);
    await steps.syncDirectory(dirname(target));
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw toUnwritable(path, cause);
  }
}
