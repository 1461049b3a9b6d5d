/** The JSONPaths of a toolspec, by whoever can read them: this package cannot. */

import { fieldOf, itemsOf, type OpenDocument, quote } from "@toolcrib/document";
import { pathsOfSelection, placedPath } from "./selection-shape.ts";

/** What is wrong with a JSONPath; `undefined` where nothing is. */
export type JsonPathFault = (path: string) => string | undefined;

/** Report every JSONPath of the toolspec that has a fault. */
export function lintJsonPaths({ tree, reporter }: OpenDocument, faultOf: JsonPathFault): void {
  for (const [index, tool] of itemsOf(tree, "tools").entries()) {
    const pagination = fieldOf(tool, "pagination");
    for (const { node, path, place } of [
      ...pathsOfSelection(fieldOf(tool, "response"), "response"),
      ...placedPath(fieldOf(pagination, "next"), "pagination.next"),
      ...placedPath(fieldOf(pagination, "total"), "pagination.total"),
    ]) {
      const fault = faultOf(path);
      if (fault === undefined) continue;
      reporter.report({
        code: "TOOLSPEC_JSON_PATH_INVALID",
        message: `Cannot use ${quote(path)} as JSONPath: ${fault}`,
        hint: "write a path of RFC 9535 without match() and search()",
        span: node.span,
        path: `tools[${index}].${place}`,
      });
    }
  }
}
