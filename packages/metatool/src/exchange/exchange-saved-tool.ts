/**
 * Exports saved tools to folders and imports them. An import checks everything, saves
 * nothing, runs nothing, and has no approval.
 */

import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { isJsonObject, JsonError, parseJson, type SchemaValidator } from "@toolcrib/json";
import { parseFile, toolDialect } from "@toolcrib/starlark";
import type { SavedToolDefinition } from "@toolcrib/store";
import { lintInputSchema } from "../core/lint-input-schema.ts";
import { meaningOfName } from "../core/reserved-name.ts";
import { MetatoolError } from "../metatool-error.ts";
import { lintSavedTool } from "../saved/lint-saved-tool.ts";
import type { SavedToolLimits } from "../saved/saved-tool.ts";
import {
  type PackageTexts,
  packageFilesMaxCount,
  readPackageFiles,
  writePackageFiles,
} from "./package-folder.ts";
import {
  formatPackage,
  listPackageFiles,
  manifestPath,
  type PackageOptions,
  parsePackage,
} from "./package-format.ts";

/** Dependencies of an export. */
export interface ExportDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Writes `tool` to a folder with the layout of a package.
 *
 * @returns the paths of its files.
 * @throws {MetatoolError} `METATOOL_PACKAGE_INVALID` for an invalid id or version and for invalid test cases,
 *   with `data.diagnostics`; `METATOOL_PACKAGE_EXISTS`, `METATOOL_PACKAGE_UNUSABLE`.
 */
export async function exportSavedTool(
  tool: SavedToolDefinition,
  folder: string,
  { randomBytes }: ExportDeps,
  options: PackageOptions = {},
): Promise<readonly string[]> {
  const { value, diagnostics } = formatPackage(tool, options);
  if (hasErrors(diagnostics)) {
    const message = `Cannot export "${tool.name}": ${diagnostics[0]?.message}`;
    throw new MetatoolError("METATOOL_PACKAGE_INVALID", message, { data: { diagnostics } });
  }
  await writePackageFiles(folder, value, randomBytes);
  return [...value.keys()];
}

/** Dependencies of an import. */
export interface ImportDeps {
  readonly validator: SchemaValidator;
}

/** Behaviour of an import. */
export interface ImportOptions extends SavedToolLimits {
  /** Name of the tool. @default the name in the package */
  readonly name?: string;
}

/**
 * Reads a folder as a saved tool that must be approved (unless it calls no tool), with
 * all findings about it.
 *
 * @throws {MetatoolError} `METATOOL_PACKAGE_UNUSABLE` when the folder cannot be read.
 */
export async function importSavedTool(
  folder: string,
  { validator }: ImportDeps,
  { name, ...limits }: ImportOptions = {},
): Promise<{ readonly value?: SavedToolDefinition; readonly diagnostics: readonly Diagnostic[] }> {
  const files: PackageTexts = { texts: new Map(), diagnostics: [] };
  await readPackageFiles(folder, [manifestPath], files);
  const paths = pathsIn(files.texts.get(manifestPath));
  if (paths.length > packageFilesMaxCount) {
    const message = `Cannot import: the manifest names ${paths.length} files; at most ${packageFilesMaxCount} are allowed`;
    return { diagnostics: [{ severity: "error", code: "METATOOL_PACKAGE_INVALID", message }] };
  }
  await readPackageFiles(folder, paths, files);
  const { value, diagnostics: found } = parsePackage(files.texts, name);
  // A refused file is not reported as missing, too.
  const refused = new Set(files.diagnostics.map(({ path }) => path));
  const own = found.filter(
    ({ path, message }) => !(refused.has(path) && message.endsWith("the file does not exist")),
  );
  const diagnostics = [...files.diagnostics, ...own];
  if (value === undefined) return { diagnostics };
  diagnostics.push(...lintSavedTool({ ...value }, limits), ...lintInputSchema(value.inputSchema, validator));
  const meaning = meaningOfName(value.name);
  if (meaning !== undefined) {
    const message = `Cannot import a tool as "${value.name}": ${meaning}`;
    const hint = "import it under another name";
    diagnostics.push({ severity: "error", code: "METATOOL_NAME_RESERVED", message, hint, path: "name" });
  }
  const source = { name: `${value.name}.star`, text: value.code };
  diagnostics.push(...parseFile(source, toolDialect).diagnostics);
  return hasErrors(diagnostics) ? { diagnostics } : { value, diagnostics };
}

function pathsIn(text: string | undefined): readonly string[] {
  try {
    const manifest = text === undefined ? undefined : parseJson(text);
    return isJsonObject(manifest) ? listPackageFiles(manifest) : [];
  } catch (error) {
    if (error instanceof JsonError) return [];
    throw error;
  }
}
