/** The variables of base URLs: each one that is used is declared, and the other way round. */

import { toolspecVariableInvalid } from "../codes.ts";
import { type DocumentNode, entryOf, fieldOf, itemsOf, stringOf } from "../document/document-tree.ts";
import { quote, spanWithin } from "../document/reporter.ts";
import { fieldPlace, type Place, reportAt } from "../document/shape.ts";
import { variablesOf } from "./base-url.ts";

/** Report variables of the toolspec at `node` that do not fit its base URLs. */
export function lintVariables(node: DocumentNode, place: Place): void {
  const variables = fieldOf(node, "variables");
  const declared = variables?.kind === "map" ? variables.entries : [];
  const used = new Set<string>();
  for (const owner of [node, ...itemsOf(node, "tools")]) {
    const found = fieldOf(owner, "baseUrl");
    if (found === undefined) continue;
    for (const name of variablesOf(stringOf(found) ?? "")) {
      used.add(name);
      if (declared.some(({ key }) => key === name)) continue;
      reportAt(found, place, {
        code: toolspecVariableInvalid,
        message: `Cannot fill in "{${name}}" in ${quote(stringOf(found) ?? "")}: no variable has that name`,
        hint: `add variables: { ${name}: { description: … } }`,
        span: spanWithin(found, `{${name}}`, place.reporter.source),
        path: "baseUrl",
      });
    }
  }
  for (const { key, keySpan } of declared) {
    if (used.has(key)) continue;
    const at = fieldPlace(place, "variables", keySpan);
    at.reporter.report({
      code: toolspecVariableInvalid,
      message: `Variable ${quote(key)} is declared and stands in no base URL`,
      hint: `remove it, or write baseUrl: https://{${key}}.example.com`,
      span: keySpan,
      path: at.path,
    });
  }
  if (variables !== undefined && declared.length === 0 && variables.kind === "map") {
    const span = entryOf(node, "variables")?.keySpan;
    const message = '"variables" is empty';
    place.reporter.report({
      code: toolspecVariableInvalid,
      message,
      hint: "remove it",
      span,
      path: "variables",
    });
  }
}
