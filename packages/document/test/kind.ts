import type { Diagnostic } from "@toolcrib/diagnostics";
import type { DocumentKind } from "@toolcrib/document";

/** A kind of document for tests, with self-explanatory codes. */
export const kind: DocumentKind = {
  noun: "sample",
  codes: {
    fileTooLarge: "TOO_LARGE",
    syntax: "SYNTAX",
    tooComplex: "TOO_COMPLEX",
    duplicateKey: "DUPLICATE_KEY",
    unknownField: "UNKNOWN_FIELD",
    fieldRequired: "FIELD_REQUIRED",
    wrongType: "WRONG_TYPE",
    valueInvalid: "VALUE_INVALID",
    bareWord: "BARE_WORD",
  },
};

/** Formats each finding as one line: place, code, message, hint. */
export function toLines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ span, code, message, hint }) => {
    const place = span === undefined ? "" : `${span.start}-${span.end} `;
    return `${place}${code}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
  });
}
