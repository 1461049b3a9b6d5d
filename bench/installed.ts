/** Writes the command as npm installs it, which the benchmark measures beside the installed peers. */

import { join } from "node:path";
import { publishedPackages } from "../scripts/release/published-packages.ts";
import { writePackage } from "../scripts/release/write-package.ts";
import { installedFolder } from "./contenders.ts";

/** Replaces the folder of the installed command by one of the present sources. */
export async function writeInstalled(): Promise<void> {
  const command = publishedPackages.find(({ kind }) => kind === "program");
  if (command === undefined) throw new Error("no published package is a program");
  await writePackage(join(import.meta.dirname, ".."), command, installedFolder, undefined);
}
