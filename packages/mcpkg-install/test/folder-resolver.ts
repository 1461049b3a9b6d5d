/** A registry for tests: archives in memory, of which it finds the last one that fits. */

import { digestArchive } from "@toolcrib/mcpkg";
import type { PackageResolver, ResolvedPackage } from "@toolcrib/mcpkg-install";

/** One archive of the registry. */
export interface Release {
  readonly toolId: string;
  readonly version: string;
  readonly archive: Uint8Array;
  /** The statement of the registry, where it is false. */
  readonly stated?: Partial<ResolvedPackage>;
}

/** Returns the resolver. A range is `*`, a version, or `^` and the beginning of a version. */
export function resolverOf(releases: readonly Release[]): PackageResolver {
  return {
    place: "https://registry.example.com/",
    async resolve(toolId, range) {
      const prefix = range.replace(/^\^/, "").replace("*", "");
      const found = releases.findLast((one) => one.toolId === toolId && one.version.startsWith(prefix));
      if (found === undefined) return undefined;
      const { version, archive, stated } = found;
      return { version, digest: digestArchive(archive), fetch: async () => archive, ...stated };
    },
  };
}
