/** Checks a whole registry: every archive that the index names, from its folder or its web server. */

import { isCodedError } from "@toolcrib/diagnostics";
import type { OpenedRegistry } from "./open-registry.ts";
import type { PackageRegistries } from "./package-registries.ts";

/** A file of a registry that is not what the index says. */
export interface RegistryProblem {
  /** Such as `demo.echo 0.1.0`. */
  readonly what: string;
  readonly reason: string;
}

/** Reads every archive of `registry`, one after the other. */
export async function verifyRegistry(
  registries: PackageRegistries,
  registry: OpenedRegistry,
): Promise<{ readonly archives: number; readonly problems: readonly RegistryProblem[] }> {
  const problems: RegistryProblem[] = [];
  for (const entry of registry.entries) {
    try {
      await registries.fetch(registry, entry);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      problems.push({ what: `${entry.toolId} ${entry.version}`, reason: error.message });
    }
  }
  return { archives: registry.entries.length, problems };
}
