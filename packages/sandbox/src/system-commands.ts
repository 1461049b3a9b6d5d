/** Programs of the system that sandboxes are built with: found in its own folders, never by the PATH of a server. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";

const commandFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** PATH of what runs before the program. */
export const commandPath = commandFolders.join(":");

/** Returns the path of a command in the folders of the system. */
export function findCommand(name: string): string | undefined {
  return commandFolders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        // It is not in this folder.
        return false;
      }
    });
}
