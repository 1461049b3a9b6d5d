/**
 * Where the catalogue of manifests and toolspecs is: the folder that
 * `TOOLCRIB_CATALOG` names, else the one that came with the command, which is
 * beside its build when it was published and at the root of a checkout.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ProcessContext } from "../process-context.ts";

/** The folder, or `undefined` where there is none. */
export function findCatalogFolder({
  env,
  directory,
}: Pick<ProcessContext, "env" | "directory">): string | undefined {
  const own = env["TOOLCRIB_CATALOG"] ?? "";
  // Whoever names one wants no other, even where that one is missing.
  if (own !== "") return resolve(directory, own);
  const shipped = [join(import.meta.dirname, "../catalog"), join(import.meta.dirname, "../../../../catalog")];
  return shipped.find((folder) => existsSync(join(folder, "manifests")));
}
