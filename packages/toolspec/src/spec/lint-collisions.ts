/** Header parameters that are the header of a credential: an agent must not be able to set it. */

import { toolspecHeaderCollides } from "../codes.ts";
import { type DocumentNode, fieldOf, itemsOf, stringOf } from "../document/document-tree.ts";
import { type Problem, quote } from "../document/reporter.ts";

/** Report every header parameter of the toolspec at `spec` that is one of `headers`. */
export function lintCollisions(
  spec: DocumentNode,
  headers: readonly string[],
  report: (problem: Problem) => void,
): void {
  const taken = new Set(headers.map((header) => header.toLowerCase()));
  if (taken.size === 0) return;
  for (const [index, tool] of itemsOf(spec, "tools").entries()) {
    for (const param of itemsOf(tool, "params")) {
      const found = fieldOf(param, "name");
      const name = stringOf(found);
      if (found === undefined || name === undefined || stringOf(fieldOf(param, "in")) !== "header") continue;
      if (!taken.has(name.toLowerCase())) continue;
      report({
        code: toolspecHeaderCollides,
        message: `Parameter ${quote(name)} is the header of the credential, whatever its case`,
        hint: "remove the parameter: the credential is put in without it",
        span: found.span,
        path: `tools[${index}].params`,
      });
    }
  }
}
