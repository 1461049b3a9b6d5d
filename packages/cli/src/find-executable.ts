/** Finds a command on a PATH, in the same way as the launcher of servers. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/**
 * Returns the file that `command` starts, if there is one that this user may
 * execute.
 *
 * @param path value of the variable PATH.
 * @param directory base of relative paths.
 */
export function findExecutable(
  command: string,
  {
    path,
    directory,
    platform,
  }: { readonly path: string; readonly directory: string; readonly platform: NodeJS.Platform },
): string | undefined {
  const isPath = /[\\/]/.test(command);
  const folders = isPath ? [""] : path.split(delimiter).filter((folder) => folder !== "");
  const endings = platform === "win32" ? ["", ".exe", ".cmd", ".bat", ".com"] : [""];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = `${folder === "" ? command : join(folder, command)}${ending}`;
      const whole = isAbsolute(file) ? file : resolve(directory, file);
      if (isExecutable(whole)) return whole;
    }
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
