/** Writes the tool packages of a service as archives, after checking each as `toolcrib validate` does. */

import type { KeyObject } from "node:crypto";
import { SchemaValidator } from "@toolcrib/json";
import { archiveNameOf, digestArchive, parsePackage, signPackage, writeArchive } from "@toolcrib/mcpkg";
import { type BuiltPackage, buildPackages, type Toolpack } from "@toolcrib/toolpack-image";
import { CliError } from "../cli-error.ts";

/** Settings of packages, and the key that signs them. */
export type WritePackageSettings = Parameters<typeof buildPackages>[1] & {
  readonly key: KeyObject | undefined;
};

/** An archive. */
export interface WrittenPackage
  extends Pick<BuiltPackage, "toolId" | "version" | "engineReason" | "lacksCredential"> {
  readonly fileName: string;
  readonly archive: Uint8Array;
  readonly digest: string;
}

/** Writes the packages. @throws {CliError} `CLI_PACKAGE_INVALID`; {ToolpackImageError} as `buildPackages` */
export function writePackages(
  toolpack: Toolpack,
  { key, ...settings }: WritePackageSettings,
): readonly WrittenPackage[] {
  const validator = new SchemaValidator();
  return buildPackages(toolpack, settings).map(
    ({ toolId, version, files, engineReason, lacksCredential }) => {
      const { value, diagnostics } = parsePackage(files, validator);
      if (value === undefined) {
        throw new CliError("CLI_PACKAGE_INVALID", `The package "${toolId}" would have errors`, {
          data: { diagnostics },
        });
      }
      const archive = writeArchive(key === undefined ? files : signPackage(value, key));
      const fileName = archiveNameOf(value.manifest);
      return {
        toolId,
        version,
        engineReason,
        lacksCredential,
        fileName,
        archive,
        digest: digestArchive(archive),
      };
    },
  );
}
