/** The dependencies of the site, below site/: none of them is one of Toolcrib. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { installPinned } from "../scripts/pinned-packages.ts";

/** Installs missing packages. Returns whether none was missing, or `npm ci` succeeded. */
export function installDependencies(progress: (line: string) => void): boolean {
  const folder = import.meta.dirname;
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  return installPinned(folder, dependencies, "site/", progress);
}
