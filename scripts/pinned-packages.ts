/**
 * Packages that a folder pins in a lock file of its own, because they are no dependency of Toolcrib: the gateways to
 * compare with, and what the site needs. They are installed below the folder where the pinned versions are missing.
 * Install scripts do not run.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Installs the packages of `folder` if one of `versions` is missing.
 *
 * @param versions the pinned version of each package
 * @param place the folder, for the line of progress
 * @returns whether none was missing, or `npm ci` succeeded
 */
export function installPinned(
  folder: string,
  versions: { readonly [name: string]: string },
  place: string,
  progress: (line: string) => void,
): boolean {
  const missing = Object.entries(versions).filter(([name, version]) => !isInstalled(folder, name, version));
  if (missing.length === 0) return true;
  progress(`Installing ${missing.map(([name, version]) => `${name} ${version}`).join(", ")} below ${place}`);
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const args = [...first, "ci", "--prefix", folder, "--ignore-scripts"];
  return spawnSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

function isInstalled(folder: string, name: string, version: string): boolean {
  try {
    const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
    return JSON.parse(manifest).version === version;
  } catch {
    return false;
  }
}
