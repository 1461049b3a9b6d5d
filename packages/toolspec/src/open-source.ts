/** Parses the text of a manifest or toolspec into a tree, and masks secrets that were written into it by mistake. */

import type { Source, Span } from "@toolcrib/diagnostics";
import {
  type DocumentKind,
  type DocumentNode,
  fieldOf,
  itemsOf,
  type OpenDocument,
  openDocument,
  secretSpans,
  starOut,
  stringOf,
  type UnreadSource,
} from "@toolcrib/document";

/** Parses the text of `source` into a tree. */
export function openSource(source: UnreadSource, kind: DocumentKind): OpenDocument {
  return openDocument(source, {
    ...kind,
    emptyHint: "write at least schemaVersion, name and version",
    toShown,
  });
}

function toShown({ name, text }: Source, tree: DocumentNode | undefined): Source {
  return { name, text: starOut(text, [...secretSpans(text), ...literalFormats(tree)]) };
}

/** Formats without a place for the token usually contain the secret itself. */
function literalFormats(tree: DocumentNode | undefined): Span[] {
  const holders = [
    fieldOf(tree, "auth"),
    ...itemsOf(tree, "credentials").map((item) => fieldOf(item, "inject")),
  ];
  return holders.flatMap((holder) => {
    return ["format", "pathPrefix"].flatMap((field) => {
      const format = fieldOf(holder, field);
      const written = stringOf(format);
      const isLiteral = written !== undefined && !written.includes("{token}");
      return format !== undefined && isLiteral ? [format.span] : [];
    });
  });
}
