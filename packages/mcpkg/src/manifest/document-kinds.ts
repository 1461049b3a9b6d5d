/** The kinds of JSON documents in a package, for the messages about them. */

import type { DocumentKind } from "@toolcrib/document";

const codes = {
  fileTooLarge: "MCPKG_FILE_TOO_LARGE",
  syntax: "MCPKG_SYNTAX",
  tooComplex: "MCPKG_TOO_COMPLEX",
  duplicateKey: "MCPKG_DUPLICATE_KEY",
  unknownField: "MCPKG_UNKNOWN_FIELD",
  fieldRequired: "MCPKG_FIELD_REQUIRED",
  wrongType: "MCPKG_WRONG_TYPE",
  valueInvalid: "MCPKG_VALUE_INVALID",
};

// The examples of the MCPKG document have comments.
const shared = { codes, allowsComments: true } as const;

/** `manifest.json`. */
export const manifestKind: DocumentKind = {
  ...shared,
  noun: "manifest",
  emptyHint: "write at least toolId, name, version, description, capabilities, endpoint and the two schemas",
};

/** A file below `tests/`. */
export const testKind: DocumentKind = { ...shared, noun: "test", emptyHint: "write at least name and input" };

/** `meta/publisher.json` and `meta/provenance.json`. */
export const metaKind: DocumentKind = { ...shared, noun: "file" };
