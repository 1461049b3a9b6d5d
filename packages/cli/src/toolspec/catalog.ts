/**
 * Finds entries of the catalog by name or by words, each with its manifest and
 * toolspec. Reads only the folder that is included with the command, or the folder
 * in `TOOLCRIB_CATALOG`.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { listCatalogNames, readCatalogPair, type ToolspecPair } from "@toolcrib/config";
import { didYouMean } from "@toolcrib/diagnostics";
import { readRegularFileAtOnce } from "@toolcrib/files";
import { createToolSearch } from "@toolcrib/search";
import { type CatalogReport, lintCatalog } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { findCatalogFolder } from "./find-catalog.ts";

/** A toolspec of the catalog. */
export type CatalogEntry = Pick<ToolspecPair, "manifest" | "toolspec">;

/** Parses `NAME` or `NAME@VERSION`. */
export function parseEntryName(text: string): {
  readonly name: string;
  readonly version: string | undefined;
} {
  const [, name = text, version] = /^([a-z0-9-]+)@([0-9.]+)$/.exec(text.trim()) ?? [];
  return { name: name.trim(), version };
}

/** Reads the newest version of each valid toolspec, by name. */
export async function readEntries(context: ProcessContext): Promise<readonly CatalogEntry[]> {
  const folder = catalogFolder(context);
  const names = await listCatalogNames(folder);
  const reports = await Promise.all(names.map((name) => readReport(folder, name, undefined)));
  return reports.flatMap((report) => report?.pairs ?? []);
}

/**
 * Reads the toolspec `name`.
 *
 * @throws {CliError} `CLI_TOOLSPEC_NOT_FOUND`; `CLI_CONFIG_INVALID` if its files have errors.
 */
export async function readEntry(
  context: ProcessContext,
  name: string,
  version: string | undefined,
): Promise<CatalogEntry> {
  const folder = catalogFolder(context);
  const report = /^[a-z0-9-]{1,128}$/.test(name) ? await readReport(folder, name, version) : undefined;
  const [pair] = report?.pairs ?? [];
  if (pair !== undefined) return pair;
  const shown = JSON.stringify(version === undefined ? name : `${name} ${version}`);
  if (report !== undefined) {
    throw new CliError("CLI_CONFIG_INVALID", `The toolspec ${shown} of the catalog has errors`, {
      hint: "fix the errors listed above, or choose another version",
      data: { diagnostics: report.diagnostics },
    });
  }
  const names = await listCatalogNames(folder);
  throw new CliError("CLI_TOOLSPEC_NOT_FOUND", `The catalog has no toolspec ${shown}`, {
    hint:
      didYouMean(name, names) ?? "see toolcrib catalog list, or find one with toolcrib catalog search WORDS",
  });
}

/** Searches `entries` for `words`, best match first. */
export function findEntries(
  entries: readonly CatalogEntry[],
  words: string,
  limit: number,
): readonly CatalogEntry[] {
  const search = createToolSearch();
  for (const { manifest, toolspec } of entries) {
    const { name, displayName, description, category } = manifest;
    search.add({
      id: name,
      name,
      title: displayName,
      namespace: name,
      description: [description ?? "", ...toolspec.tools.map((tool) => tool.description)].join("\n"),
      tags: category === undefined ? [] : [category],
    });
  }
  const byName = new Map(entries.map((entry) => [entry.manifest.name, entry]));
  return search.search(words, { limit }).flatMap(({ id }) => byName.get(id) ?? []);
}

/** Returns the folder of the catalog. @throws {CliError} `CLI_TOOLSPEC_NOT_FOUND` */
export function catalogFolder(context: ProcessContext): string {
  const folder = findCatalogFolder(context);
  if (folder !== undefined && existsSync(join(folder, "manifests"))) return folder;
  throw new CliError(
    "CLI_TOOLSPEC_NOT_FOUND",
    folder === undefined ? "The command has no catalog" : `There is no catalog in ${folder}`,
    { hint: "set TOOLCRIB_CATALOG to a folder with manifests and toolspecs" },
  );
}

async function readReport(
  folder: string,
  name: string,
  version: string | undefined,
): Promise<CatalogReport | undefined> {
  const files = await readCatalogPair(name, version, {
    readFile: readRegularFileAtOnce,
    catalogFolder: folder,
  });
  if ("code" in files) return undefined;
  return lintCatalog([files.manifest, files.toolspec], { subject: "toolspecs" });
}
