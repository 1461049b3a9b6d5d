/**
 * Compares the tools that a manifest names with those that its upstream server
 * lists. Pure: the caller has asked the server.
 */

import { type Diagnostic, nearestName, type Source } from "@toolcrib/diagnostics";
import { entryOf, fieldOf, itemsOf, quote, stringOf } from "@toolcrib/document";
import { manifestKind } from "../manifest/manifest-shape.ts";
import { openSource } from "../open-source.ts";
import { compareTools } from "./rewrite-tools.ts";

/** Returns a finding, at its place in the manifest `source`, for each tool in which it differs from the server. */
export function lintLiveTools(source: Source, real: readonly string[]): readonly Diagnostic[] {
  const { tree, reporter } = openSource(source, manifestKind);
  const items = itemsOf(tree, "tools").flatMap((item) => fieldOf(item, "name") ?? []);
  const declared = items.flatMap((node) => stringOf(node) ?? []);
  const { missing, undeclared } = compareTools(declared, real);
  const before = reporter.diagnostics.length;
  for (const node of items) {
    const name = stringOf(node) ?? "";
    if (!missing.includes(name)) continue;
    const near = nearestName(name, undeclared);
    reporter.report({
      code: "MANIFEST_TOOL_ABSENT",
      message: `The server has no tool ${quote(name)}`,
      hint: near === undefined ? "remove it" : `the server has ${near}`,
      span: node.span,
      path: "tools",
    });
  }
  const place = entryOf(tree, "tools")?.keySpan ?? entryOf(tree, "name")?.keySpan ?? { start: 0, end: 0 };
  for (const name of undeclared) {
    reporter.report({
      code: "MANIFEST_TOOL_UNDECLARED",
      message: `The server has the tool ${quote(name)}, which the manifest does not name: it is not offered`,
      hint: `add {name: ${name}, default: false}`,
      span: place,
      path: "tools",
    });
  }
  return reporter.diagnostics.slice(before);
}
