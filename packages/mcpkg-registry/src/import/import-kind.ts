/** The kind of the documents that are imported, for the messages about them, and findings about what is left out. */

import { type DocumentKind, type MapEntry, type Place, record } from "@toolcrib/document";

const codes = {
  fileTooLarge: "SERVER_IMPORT_FILE_TOO_LARGE",
  syntax: "SERVER_IMPORT_SYNTAX",
  tooComplex: "SERVER_IMPORT_TOO_COMPLEX",
  duplicateKey: "SERVER_IMPORT_DUPLICATE_KEY",
  unknownField: "SERVER_IMPORT_LEFT_OUT",
  fieldRequired: "SERVER_IMPORT_FIELD_REQUIRED",
  wrongType: "SERVER_IMPORT_WRONG_TYPE",
  valueInvalid: "SERVER_IMPORT_VALUE_INVALID",
};

/** `server.json` of the official MCP registry. */
export const serverJsonKind: DocumentKind = { codes, noun: "server.json" };

/** `manifest.json` of a bundle (`.mcpb`). */
export const bundleManifestKind: DocumentKind = { codes, noun: "manifest of the bundle" };

/** A record whose unknown members, which have no counterpart in an entry of a configuration, are left out with a finding. */
export function partial<const F extends Parameters<typeof record>[0]["fields"]>(options: {
  readonly description: string;
  readonly fields: F;
}) {
  return record<F>({ ...options, reportUnlisted: reportLeftOut });
}

function reportLeftOut(entries: readonly MapEntry[], place: Place): void {
  const names = entries.slice(0, 20).map(({ key }) => key.slice(0, 60));
  const more = entries.length > names.length ? ` and ${entries.length - names.length} more` : "";
  place.reporter.report({
    severity: "warning",
    code: "SERVER_IMPORT_LEFT_OUT",
    message: `Left out${place.path === "" ? "" : ` of ${place.path}`}: ${names.join(", ")}${more}; an entry of tool_servers has no such setting`,
    span: entries[0]?.keySpan ?? place.keySpan,
    path: place.path,
  });
}
