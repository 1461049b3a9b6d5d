/** Configurations as a kind of document: their error codes, and how findings quote them. */

import type { DocumentKind } from "@toolcrib/document";
import { quote, toDisplaySource } from "./display-source.ts";

/** Configurations. An empty document is valid: every section has a default. */
export const configKind: DocumentKind = {
  noun: "configuration",
  codes: {
    fileTooLarge: "CONFIG_FILE_TOO_LARGE",
    syntax: "CONFIG_SYNTAX",
    tooComplex: "CONFIG_TOO_COMPLEX",
    duplicateKey: "CONFIG_DUPLICATE_KEY",
    unknownField: "CONFIG_UNKNOWN_FIELD",
    fieldRequired: "CONFIG_FIELD_REQUIRED",
    wrongType: "CONFIG_WRONG_TYPE",
    valueInvalid: "CONFIG_INVALID_VALUE",
  },
  // Other MCP hosts allow comments in their JSON files.
  allowsComments: true,
  tooLargeHint: "split it into several files and pass them all: they are composed left to right",
  quote,
  toShown: toDisplaySource,
};
