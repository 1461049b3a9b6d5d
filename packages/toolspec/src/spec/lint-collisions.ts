/** Finds parameters in the place of a credential: an agent must not be able to set it. */

import { type DocumentNode, fieldOf, itemsOf, type Problem, quote, stringOf } from "@toolcrib/document";

/** Headers and query parameters that carry credentials. */
export interface TakenNames {
  readonly headers: readonly string[];
  readonly queries?: readonly string[];
}

/** Reports every parameter of the toolspec at `spec` that has the place of a credential. */
export function lintCollisions(
  spec: DocumentNode,
  { headers, queries = [] }: TakenNames,
  report: (problem: Problem) => void,
): void {
  const takenHeaders = new Set(headers.map((header) => header.toLowerCase()));
  if (takenHeaders.size === 0 && queries.length === 0) return;
  for (const [index, tool] of itemsOf(spec, "tools").entries()) {
    for (const param of itemsOf(tool, "params")) {
      const found = fieldOf(param, "name");
      const name = stringOf(found);
      if (found === undefined || name === undefined) continue;
      const place = stringOf(fieldOf(param, "in"));
      const at = {
        hint: "remove the parameter: the credential is inserted without it",
        span: found.span,
        path: `tools[${index}].params`,
      };
      if (place === "header" && takenHeaders.has(name.toLowerCase())) {
        const message = `Parameter ${quote(name)} is the header of the credential (case is ignored)`;
        report({ code: "TOOLSPEC_HEADER_COLLIDES", message, ...at });
      } else if (place === "query" && queries.includes(name)) {
        const message = `Parameter ${quote(name)} is the query parameter of the credential`;
        report({ code: "TOOLSPEC_QUERY_COLLIDES", message, ...at });
      }
    }
  }
}
