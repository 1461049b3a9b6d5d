/** The kind of the documents that are imported, for the messages about them, and findings about what is left out. */

import { type DocumentKind, type DocumentNode, type Place, record } from "@toolcrib/document";

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

/** A record whose unknown members are left out with a finding. */
export function partial<const F extends Parameters<typeof record>[0]["fields"]>(options: {
  readonly description: string;
  readonly fields: F;
}) {
  const known = Object.keys(options.fields);
  return record<F>({
    ...options,
    isOpen: true,
    inspect: (_value, node, place) => reportLeftOut(node, place, known),
  });
}

/** Reports the members of a map that have no counterpart in an entry of a configuration. */
function reportLeftOut(node: DocumentNode, place: Place, known: readonly string[]): void {
  if (node.kind !== "map") return;
  const leftOut = node.entries.filter(({ key }) => !known.includes(key));
  const [first] = leftOut;
  if (first === undefined) return;
  const names = leftOut.slice(0, 20).map(({ key }) => key.slice(0, 60));
  const more = leftOut.length > names.length ? ` and ${leftOut.length - names.length} more` : "";
  place.reporter.report({
    severity: "warning",
    code: "SERVER_IMPORT_LEFT_OUT",
    message: `Left out${place.path === "" ? "" : ` of ${place.path}`}: ${names.join(", ")}${more}; an entry of tool_servers has no such setting`,
    span: first.keySpan,
    path: place.path,
  });
}
