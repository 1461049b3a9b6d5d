/** Configurations as a kind of document: their codes, and what of them may be shown. */

import type { DocumentKind } from "@toolcrib/document";
import {
  configDuplicateKey,
  configFieldRequired,
  configFileTooLarge,
  configInvalidValue,
  configSyntax,
  configTooComplex,
  configUnknownField,
  configWrongType,
} from "./codes.ts";
import { quote, toDisplaySource } from "./display-source.ts";

/** Configurations. An empty one is none: all that it could say has a default. */
export const configKind: DocumentKind = {
  noun: "configuration",
  codes: {
    fileTooLarge: configFileTooLarge,
    syntax: configSyntax,
    tooComplex: configTooComplex,
    duplicateKey: configDuplicateKey,
    unknownField: configUnknownField,
    fieldRequired: configFieldRequired,
    wrongType: configWrongType,
    valueInvalid: configInvalidValue,
  },
  // Other MCP hosts write theirs with comments.
  allowsComments: true,
  tooLargeHint: "split it into several files and give them all: they are composed left to right",
  quote,
  toShown: toDisplaySource,
};
