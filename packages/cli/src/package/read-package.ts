/** Reads a package from a folder or from an archive, and reports the findings about it. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Diagnostic, formatDiagnostics } from "@toolcrib/diagnostics";
import { errnoOf, readRegularFile, reasonOf } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import {
  checkSignature,
  type OpenedPackage,
  openPackage,
  parsePackage,
  readPackageFolder,
  type ToolPackage,
} from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

/** Longest archive in bytes, as the default of packages. */
const archiveMaxBytes = 64 * 1024 * 1024;

/** A package and where it was read from. */
export interface FoundPackage {
  readonly kind: "folder" | "archive";
  readonly found: ToolPackage & Pick<OpenedPackage, "signature"> & Partial<Pick<OpenedPackage, "digest">>;
  readonly diagnostics: readonly Diagnostic[];
  /** Paths of a folder that do not belong to the package. */
  readonly leftOut: readonly string[];
}

/**
 * Reads the package at `path`.
 *
 * @returns the findings alone where they have errors.
 * @throws {McpkgError} as `openPackage` and `readPackageFolder`; {CliError} `CLI_FILE_UNUSABLE`
 */
export async function readPackage(
  { directory }: Pick<CliContext, "directory">,
  path: string,
): Promise<FoundPackage | Pick<FoundPackage, "diagnostics">> {
  const file = resolve(directory, path);
  const validator = new SchemaValidator();
  if (await isFolder(file, path)) {
    const { files, leftOut } = await readPackageFolder(file);
    const { value, diagnostics } = parsePackage(files, validator);
    if (value === undefined) return { diagnostics };
    return { kind: "folder", found: { ...value, signature: checkSignature(value) }, diagnostics, leftOut };
  }
  const { value, diagnostics } = await openPackage(await readBytes(file, path), validator);
  return value === undefined ? { diagnostics } : { kind: "archive", found: value, diagnostics, leftOut: [] };
}

/**
 * Reads a valid package and reports its warnings.
 *
 * @throws {CliError} `CLI_PACKAGE_INVALID` after its errors were reported; as `readPackage`
 */
export async function readValidPackage(context: CliContext, path: string): Promise<FoundPackage> {
  const read = await readPackage(context, path);
  const { diagnostics } = read;
  if ("found" in read) {
    if (!context.output.isJson && diagnostics.length > 0) {
      context.output.note(formatDiagnostics(diagnostics), "");
    }
    return read;
  }
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  throw new CliError("CLI_PACKAGE_INVALID", `The package "${path}" has ${count} error(s)`, {
    data: { diagnostics },
  });
}

async function isFolder(file: string, path: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory();
  } catch (cause) {
    const reason = errnoOf(cause) === "ENOENT" ? "there is no such file or folder" : reasonOf(cause);
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reason}`, { cause });
  }
}

async function readBytes(file: string, path: string): Promise<Uint8Array> {
  try {
    const { bytes } = await readRegularFile(file, archiveMaxBytes);
    return bytes;
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reasonOf(cause)}`, { cause });
  }
}
