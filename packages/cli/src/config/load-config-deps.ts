/** Creates the dependencies of `loadConfig`: a file reader, the catalog and the cache of linted toolspecs. */

import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoadConfigDeps } from "@toolcrib/config";
import { readRegularFileAtOnce } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { findCatalogFolder } from "../toolspec/find-catalog.ts";
import { version } from "../version.ts";

/** Returns the same dependencies for every command, so that all commands read a configuration in the same way. */
export function toLoadConfigDeps(context: CliContext): LoadConfigDeps {
  return {
    readFile: readRegularFileAtOnce,
    catalogFolder: findCatalogFolder(context),
    userDirectory: context.userDirectory,
    tokenNames: () => tokenNamesOf(context.options.home),
    pairCache: {
      folder: join(context.options.home, "cache"),
      version: linterVersion,
      readFile: readRegularFileAtOnce,
      randomBytes,
    },
  };
}

/** Returns the names of the tokens of a home; none where the folder cannot be read. */
export function tokenNamesOf(home: string): readonly string[] {
  try {
    return readdirSync(join(home, "tokens")).filter((name) => /^\w/.test(name) && !name.endsWith(".tmp"));
  } catch {
    return [];
  }
}

/**
 * Returns the version of the toolspec linter. In a checkout the code changes
 * without a new version, so the version includes the time of the newest change.
 */
function linterVersion(): string {
  if (!import.meta.url.endsWith(".ts")) return version;
  const folder = fileURLToPath(new URL("../../../toolspec/src", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const newest = Math.max(...files.map((file) => statSync(join(folder, file)).mtimeMs));
  return `${version}+${newest}`;
}
