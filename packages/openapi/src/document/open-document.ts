/** Parses the text of a document (JSON or YAML 1.2) into a tree, within limits. No text makes it throw. */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { readJson, readLargeYaml } from "@toolcrib/document";
import { nodeBuilder } from "./build-tree.ts";
import type { OpenFile } from "./findings.ts";
import { documentMaxDepth, documentMaxLength, documentMaxNodes, isMap } from "./node.ts";

/** A document, or the findings that prevent parsing it. */
export type OpenedDocument =
  | { readonly kind: "open"; readonly file: OpenFile }
  | { readonly kind: "unreadable"; readonly finding: Diagnostic };

/** Parses the text of `given`. */
export function openDocument(given: Source): OpenedDocument {
  const text = given.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const source = { name: given.name, text };
  if (text.length > documentMaxLength) {
    const message = `Cannot read a document of more than ${documentMaxLength.toLocaleString("en")} characters`;
    return unreadable("OPENAPI_TOO_LARGE", message, { name: given.name, text: "" }, 0);
  }
  const limits = { noun: "document", maxDepth: documentMaxDepth, maxNodes: documentMaxNodes };
  const isJson = /^\s*[{[]/.test(text);
  const reading = isJson ? readJson(text, nodeBuilder, limits) : readLargeYaml(text, nodeBuilder, limits);
  if (reading.kind === "unreadable") {
    const { kind, message, hint, span } = reading.fault;
    return unreadable(
      kind === "syntax" ? "OPENAPI_SYNTAX" : "OPENAPI_TOO_LARGE",
      message,
      source,
      span.start,
      hint,
    );
  }
  const { root } = reading;
  if (isMap(root)) return { kind: "open", file: { source, root } };
  return unreadable("OPENAPI_SYNTAX", "The document is empty or not a map of fields", source, 0);
}

function unreadable(
  code: string,
  message: string,
  source: Source,
  at: number,
  hint?: string,
): OpenedDocument {
  const start = Math.min(at, Math.max(0, source.text.length - 1));
  const span = { start, end: start + 1 };
  const finding = { severity: "error", code, message, source, span } as const;
  return { kind: "unreadable", finding: hint === undefined ? finding : { ...finding, hint } };
}
