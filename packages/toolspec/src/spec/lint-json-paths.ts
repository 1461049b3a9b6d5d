/** The JSONPaths of a toolspec, by whoever can read them: this package cannot. */

import { fieldOf, itemsOf, type OpenDocument, quote, stringOf } from "@toolcrib/document";
import { toolspecJsonPathInvalid } from "../codes.ts";

/** What is wrong with a JSONPath; `undefined` where nothing is. */
export type JsonPathFault = (path: string) => string | undefined;

/** Report every JSONPath of the toolspec that has a fault. */
export function lintJsonPaths({ tree, reporter }: OpenDocument, faultOf: JsonPathFault): void {
  for (const [index, tool] of itemsOf(tree, "tools").entries()) {
    for (const [owner, field] of [
      ["response", "select"],
      ["pagination", "next"],
      ["pagination", "total"],
    ] as const) {
      const node = fieldOf(fieldOf(tool, owner), field);
      const path = stringOf(node);
      const fault = path === undefined ? undefined : faultOf(path);
      if (node === undefined || path === undefined || fault === undefined) continue;
      reporter.report({
        code: toolspecJsonPathInvalid,
        message: `Cannot use ${quote(path)} as JSONPath: ${fault}`,
        hint: "write a path of RFC 9535 without match() and search()",
        span: node.span,
        path: `tools[${index}].${owner}.${field}`,
      });
    }
  }
}
