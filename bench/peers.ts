/**
 * Installs the npm gateways to compare with below bench/, if the pinned versions
 * are missing. They are no dependency of Toolcrib, so the main
 * install leaves them out. Their install scripts do not run.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { peerVersions } from "./contenders.ts";

const folder = import.meta.dirname;

function isInstalled(name: string, version: string): boolean {
  try {
    const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
    return JSON.parse(manifest).version === version;
  } catch {
    return false;
  }
}

/** Installs missing peers. Without them (offline, for example) the run continues and reports it. */
export function installPeers(progress: (line: string) => void): void {
  const missing = Object.entries(peerVersions()).filter(([name, version]) => !isInstalled(name, version));
  if (missing.length === 0) return;
  progress(`Installing ${missing.map(([name, version]) => `${name} ${version}`).join(", ")} below bench/`);
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const args = [...first, "ci", "--prefix", folder, "--ignore-scripts"];
  const done = spawnSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  if (done.status !== 0) progress("npm ci failed: the peers that are missing are reported as not started");
}
