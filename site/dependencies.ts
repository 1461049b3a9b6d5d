/**
 * Installs what the site needs below site/, if the pinned versions are missing. None of it is a
 * dependency of Toolcrib, so the main install leaves it out. Install scripts do not run.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;

function isInstalled(name: string, version: string): boolean {
  try {
    const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
    return JSON.parse(manifest).version === version;
  } catch {
    return false;
  }
}

/** Installs missing packages. Returns whether all are there. */
export function installDependencies(progress: (line: string) => void): boolean {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const missing = Object.entries(manifest.dependencies).filter(
    ([name, version]) => !isInstalled(name, version),
  );
  if (missing.length === 0) return true;
  progress(`Installing ${missing.map(([name, version]) => `${name} ${version}`).join(", ")} below site/`);
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const args = [...first, "ci", "--prefix", folder, "--ignore-scripts"];
  const done = spawnSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return done.status === 0;
}
