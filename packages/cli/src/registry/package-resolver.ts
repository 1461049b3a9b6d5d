/** Finds the packages that `install`, `update` and `outdated` name by their toolId in the registries of the command. */

import { isCodedError } from "@toolcrib/diagnostics";
import type { PackageResolver } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import {
  noteRegistries,
  type OpenedRegistries,
  openPackageRegistries,
  type RegistryFlags,
  registryNamesOf,
} from "./open-package-registries.ts";

/** A resolver, and the registries that it has opened. */
export interface OpenedResolver extends AsyncDisposable {
  /** `undefined` where no registry is configured or named. */
  readonly resolver: PackageResolver | undefined;
}

/**
 * Opens a resolver. The registries are read when the first package is looked up.
 *
 * @throws {CliError} `CLI_USAGE` for a registry that is not known, `CLI_CONFIG_INVALID`
 */
export async function openPackageResolver(
  context: CliContext,
  flags: RegistryFlags,
): Promise<OpenedResolver> {
  const names = await registryNamesOf(context, flags);
  if (names.length === 0) return { resolver: undefined, async [Symbol.asyncDispose]() {} };
  let opened: Promise<OpenedRegistries> | undefined;
  const open = async (): Promise<OpenedRegistries> => {
    const found = await openPackageRegistries(context, flags);
    noteRegistries(context, found.registries);
    return found;
  };
  return {
    resolver: {
      place: names.join(", "),
      async resolve(toolId, range, signal) {
        signal.throwIfAborted();
        opened ??= open();
        const { registries } = await opened;
        try {
          const { version, digest, publisherKey, entry, fetch } = registries.resolve(toolId, range);
          if (entry.yanked !== undefined) {
            const { reason = "no reason is given" } = entry.yanked;
            context.output.note(`${toolId} ${version} was withdrawn by its registry: ${reason}`);
          }
          return { version, digest, fetch, ...(publisherKey === undefined ? {} : { publisherKey }) };
        } catch (error) {
          if (isCodedError(error) && notFound.has(error.code)) return undefined;
          throw error;
        }
      },
    },
    async [Symbol.asyncDispose]() {
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

const notFound: ReadonlySet<string> = new Set([
  "MCPKG_REGISTRY_PACKAGE_NOT_FOUND",
  "MCPKG_REGISTRY_VERSION_NOT_FOUND",
]);
