/**
 * The folders of installed packages: `<project>/.mcp/tools/<toolId>` (MCPKG document, section 8) or
 * `<home>/packages/<toolId>`, and their record in the home. A toolId never begins with a dot, so
 * names of this package's own files do.
 */

import { join } from "node:path";

/** Where a package is installed: for one project, or for all projects of the user. */
export type InstallScope = "project" | "user";

/** Path of the install record of a home. */
export function recordPathOf(home: string): string {
  return join(home, "packages", ".record.json");
}

/** Path of the folder that contains the packages of a project; of the user where `project` is undefined. */
export function rootOf(home: string, project: string | undefined): string {
  return project === undefined ? join(home, "packages") : join(project, ".mcp", "tools");
}

/** Path of the folder of one package. */
export function folderOf(home: string, project: string | undefined, toolId: string): string {
  return join(rootOf(home, project), toolId);
}

/** Path of the folder in which packages are prepared, on the file system of their places. */
export function stagingOf(root: string): string {
  return join(root, ".staging");
}
