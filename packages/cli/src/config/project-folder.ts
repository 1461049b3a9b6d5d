/** The folder of the project that a command is about: its packages are in `.mcp/tools` of it. */

import { basename, dirname, resolve } from "node:path";
import type { CliContext } from "../cli-context.ts";

/** Folders in which other programs keep the configuration of the project above. */
const foreignFolders: readonly string[] = [".vscode", ".cursor"];

/**
 * Returns the absolute folder of the first file that `--config` names; without one, and for the configuration of the
 * home, which belongs to no project, the current folder.
 */
export function projectFolderOf({ directory, options }: Pick<CliContext, "directory" | "options">): string {
  const [file] = options.configFiles;
  if (file === undefined) return directory;
  const folder = dirname(resolve(directory, file));
  if (folder === resolve(directory, options.home)) return directory;
  return foreignFolders.includes(basename(folder)) ? dirname(folder) : folder;
}
