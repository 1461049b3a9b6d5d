/** Imports documents for tests, and formats the results. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { type ImportOptions, type ImportReport, importOpenapi } from "@toolcrib/openapi";
import { lintCatalog } from "@toolcrib/toolspec";

/** Returns a document of `documents/`. */
export function document(name: string): { readonly name: string; readonly text: string } {
  return { name, text: readFileSync(join(import.meta.dirname, "documents", name), "utf8") };
}

/** Imports a text. */
export function importText(text: string, options: ImportOptions = {}): Promise<ImportReport> {
  return importOpenapi({ name: "api.yaml", text }, options);
}

/** Returns a valid document with `paths`, and `more` at its end; both are lines of YAML. */
export function api(paths: string, more = ""): string {
  return `openapi: 3.0.3
info: {title: Demo, version: "1"}
servers: [{url: "https://api.example.com"}]
paths:
${paths.replace(/^/gm, "  ")}
${more}`;
}

/** Formats the result of an import. */
export function written({ value, diagnostics }: ImportReport): string {
  const files = value === undefined ? "nothing\n" : `${value.manifestText}---\n${value.toolspecText}`;
  return `${files}---\n${formatDiagnostics(diagnostics)}\n`;
}

/** Returns the messages of lint about the imported files. */
export function lintOf({ value }: ImportReport): readonly string[] {
  if (value === undefined) return [];
  const { name, version } = value.manifest;
  const files = [
    { path: `manifests/${name}/${version}.yaml`, text: value.manifestText },
    { path: `toolspecs/${name}/${version}.yaml`, text: value.toolspecText },
  ];
  return lintCatalog(files, { subject: "toolspecs" }).diagnostics.map(({ message }) => message);
}
