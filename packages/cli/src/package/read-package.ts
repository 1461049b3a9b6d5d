/** Reads a package from a folder or from an archive, and reports the findings about it. */

import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Diagnostic, didYouMean, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { errnoOf, readRegularFile, reasonOf } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import {
  checkSignature,
  type OpenedPackage,
  openPackage,
  type ParsedPackage,
  packageMaxBytes,
  parsePackage,
  readPackageFolder,
  type ToolPackage,
} from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { inspectPrograms } from "./inspect-programs.ts";

/** A package and where it was read from. */
export interface FoundPackage {
  readonly kind: "folder" | "archive";
  readonly found: ToolPackage & Pick<OpenedPackage, "signature"> & Partial<Pick<OpenedPackage, "digest">>;
  readonly diagnostics: readonly Diagnostic[];
  /** Paths of a folder that do not belong to the package. */
  readonly leftOut: readonly string[];
}

/**
 * Reads the files at `path` as a package, without the check of its programs against what they declare.
 *
 * @throws as `readPackage`
 */
export async function readPackageFiles(
  { directory }: Pick<CliContext, "directory">,
  path: string,
): Promise<ParsedPackage> {
  const file = resolve(directory, path);
  const validator = new SchemaValidator();
  if (await isFolder(file, path)) return parsePackage((await readPackageFolder(file)).files, validator);
  return await openPackage(await readBytes(file, path), validator);
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
    const { value, diagnostics: own } = parsePackage(files, validator);
    const diagnostics = [...own, ...(value === undefined ? [] : inspectPrograms(value))];
    if (value === undefined || hasErrors(diagnostics)) return { diagnostics };
    return { kind: "folder", found: { ...value, signature: checkSignature(value) }, diagnostics, leftOut };
  }
  const { value, diagnostics: own } = await openPackage(await readBytes(file, path), validator);
  const diagnostics = [...own, ...(value === undefined ? [] : inspectPrograms(value))];
  return value === undefined || hasErrors(diagnostics)
    ? { diagnostics }
    : { kind: "archive", found: value, diagnostics, leftOut: [] };
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
    const isMissing = errnoOf(cause) === "ENOENT";
    const reason = isMissing ? "there is no such file or folder" : reasonOf(cause);
    const hint = isMissing ? didYouMean(path, await siblingsOf(file, path)) : undefined;
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reason}`, { cause, hint });
  }
}

/** Returns the entries of the folder in which `file` is not, spelled as `path` is; nothing where that cannot be read. */
async function siblingsOf(file: string, path: string): Promise<readonly string[]> {
  try {
    return (await readdir(dirname(file))).map((name) => join(dirname(path), name));
  } catch {
    return [];
  }
}

async function readBytes(file: string, path: string): Promise<Uint8Array> {
  try {
    const { bytes } = await readRegularFile(file, packageMaxBytes);
    return bytes;
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reasonOf(cause)}`, { cause });
  }
}
