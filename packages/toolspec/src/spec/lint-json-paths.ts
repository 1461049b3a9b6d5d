/** Checks the JSONPaths of a toolspec with a parser that the caller provides. */

import { fieldOf, itemsOf, type OpenDocument, quote } from "@toolcrib/document";
import { pathsOfSelection, placedPath } from "./selection-shape.ts";

/** Returns the fault of a JSONPath; `undefined` when it is valid. */
export type JsonPathFault = (path: string) => string | undefined;

/** Reports every invalid JSONPath of the toolspec. */
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
