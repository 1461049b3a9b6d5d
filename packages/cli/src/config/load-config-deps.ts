/** What reading a configuration takes from this machine: files, the catalogue, and a place for what was read before. */

import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoadConfigDeps } from "@toolcrib/config";
import { readRegularFileAtOnce } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { findCatalogFolder } from "../toolspec/find-catalog.ts";
import { version } from "../version.ts";

/** The same for every command, so that all read one configuration alike. */
export function toLoadConfigDeps(context: CliContext): LoadConfigDeps {
  return {
    readFile: readRegularFileAtOnce,
    catalogFolder: findCatalogFolder(context),
    userDirectory: context.userDirectory,
    pairCache: { folder: join(context.options.home, "cache"), version: judgeVersion, randomBytes },
  };
}

/**
 * The version of what judges toolspecs. In a checkout it changes while the
 * version stays, so there the time of its newest change is a part of it.
 */
function judgeVersion(): string {
  const entry = fileURLToPath(import.meta.resolve("@toolcrib/toolspec"));
  if (!entry.endsWith(".ts")) return version;
  const folder = dirname(entry);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const newest = Math.max(...files.map((file) => statSync(join(folder, file)).mtimeMs));
  return `${version}+${newest}`;
}
