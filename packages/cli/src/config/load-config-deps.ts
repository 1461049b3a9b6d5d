/** What reading a configuration takes from this machine: files, the catalogue, and a place for what was read before. */

import { join } from "node:path";
import { type LoadConfigDeps, readRegularFile } from "@toolcrib/gateway";
import type { CommandContext } from "../command-context.ts";
import { findCatalogFolder } from "../toolspec/find-catalog.ts";
import { version } from "../version.ts";

/** The same for every command, so that all read one configuration alike. */
export function toLoadConfigDeps({
  options,
  world,
}: Pick<CommandContext, "options" | "world">): LoadConfigDeps {
  return {
    readFile: readRegularFile,
    catalogFolder: findCatalogFolder(world),
    userDirectory: world.userDirectory,
    pairCache: { folder: join(options.home, "cache"), version },
  };
}
