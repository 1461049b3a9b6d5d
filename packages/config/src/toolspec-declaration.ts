/**
 * Translates a checked entry of `toolspecs` to the types of the parsed
 * configuration. No other file does.
 */

import { basename } from "node:path";
import type { Source } from "@toolcrib/diagnostics";
import { type DocumentNode, fieldOf, stringOf } from "@toolcrib/document";
import type { PlacedId, ToolspecDeclaration } from "./config-layer.ts";
import { toServerId } from "./server-id.ts";
import type { ToolspecDocument } from "./toolspec-shape.ts";

/** Translates `document`, which is at `node` of `source`. */
export function toToolspecDeclaration(
  document: ToolspecDocument,
  node: DocumentNode,
  source: Source,
): ToolspecDeclaration {
  const { name, path } = document;
  const placed = toolspecIdOf(node);
  const pathNode = fieldOf(node, "path");
  return {
    id: placed?.id ?? toServerId(stemOf(path ?? "")),
    isIdGiven: document.id !== undefined,
    ...(document.enabled === false ? { isOff: true } : {}),
    reference:
      path === undefined
        ? { kind: "catalog", name: name ?? "", version: document.version }
        : { kind: "path", path },
    credentials: document.credentials ?? {},
    variables: document.variables ?? {},
    reserved: document.reserved ?? [],
    tools: document.tools ?? "default",
    labels: document.labels ?? {},
    dataLabels: document.data_labels ?? [],
    pair: undefined,
    pairDigest: undefined,
    source,
    span: (placed ?? pathNode ?? node).span,
    node,
  };
}

/** Returns the id of the entry `node` and its place, if the configuration alone gives one. */
export function toolspecIdOf(node: DocumentNode): PlacedId | undefined {
  for (const field of ["id", "name"]) {
    const found = fieldOf(node, field);
    const id = stringOf(found)?.trim() ?? "";
    if (found !== undefined && id !== "") return { id, span: found.span };
  }
  return undefined;
}

function stemOf(path: string): string {
  return basename(path).replace(/\.(?:ya?ml|json)$/i, "");
}
