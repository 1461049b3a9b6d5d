/** Writes the command as npm installs it and as it starts in a checkout, for the contenders of the benchmark. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { publishedPackages } from "../scripts/release/published-packages.ts";
import { writePackage } from "../scripts/release/write-package.ts";
import { installedFolder } from "./contenders.ts";

const root = join(import.meta.dirname, "..");

/** Replaces the folder of the installed command by one of the present sources. */
export async function writeInstalled(): Promise<void> {
  const command = publishedPackages.find(({ kind }) => kind === "program");
  if (command === undefined) throw new Error("no published package is a program");
  await writePackage(root, command, installedFolder, undefined);
}

/** Bundles the present sources for the launcher of this checkout. */
export function writeCheckout(): void {
  const script = join(root, "scripts/bundle-command.ts");
  execFileSync(process.execPath, ["--conditions=toolcrib-source", script], { cwd: root });
}
