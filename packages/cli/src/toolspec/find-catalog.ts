/**
 * Finds the catalog of manifests and toolspecs: the folder in `TOOLCRIB_CATALOG`,
 * otherwise the folder that is included with the command, next to its build in the
 * published package and at the root of a checkout.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ProcessContext } from "../process-context.ts";

/** Returns the catalog folder, if there is one. */
export function findCatalogFolder({
  env,
  directory,
}: Pick<ProcessContext, "env" | "directory">): string | undefined {
  const own = env["TOOLCRIB_CATALOG"] ?? "";
  // A configured folder is used even if it is missing.
  if (own !== "") return resolve(directory, own);
  const shipped = [join(import.meta.dirname, "../catalog"), join(import.meta.dirname, "../../../../catalog")];
  return shipped.find((folder) => existsSync(join(folder, "manifests")));
}
