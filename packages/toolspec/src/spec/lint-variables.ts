/** Checks the variables of base URLs and paths: each used one is declared, and each declared one is used. */

import {
  type DocumentNode,
  entryOf,
  fieldOf,
  fieldPlace,
  itemsOf,
  type Place,
  quote,
  reportAt,
  spanWithin,
  stringOf,
} from "@toolcrib/document";
import { variablesOf } from "./base-url.ts";
import { parsePathTemplate, placeholdersOf, segmentFault } from "./path-template.ts";

/** Reports variables of the toolspec at `node` that do not match its base URLs and paths. */
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
        code: "TOOLSPEC_VARIABLE_INVALID",
        message: `Cannot resolve "{${name}}" in ${quote(stringOf(found) ?? "")}: no variable has that name`,
        hint: `add variables: { ${name}: { description: … } }`,
        span: spanWithin(found, `{${name}}`, place.reporter.source),
        path: "baseUrl",
      });
    }
  }
  const inPaths = new Set(itemsOf(node, "tools").flatMap(pathVariables));
  for (const { key, keySpan, value } of declared) {
    const at = fieldPlace(fieldPlace(place, "variables", keySpan), key, keySpan);
    if (inPaths.has(key)) lintDefault(key, value, at);
    if (used.has(key) || inPaths.has(key)) continue;
    at.reporter.report({
      code: "TOOLSPEC_VARIABLE_INVALID",
      message: `Variable ${quote(key)} is declared, but no base URL or path uses it`,
      hint: `remove it, or write baseUrl: https://{${key}}.example.com or path: /{${key}}/…`,
      span: keySpan,
      path: "variables",
    });
  }
  if (variables !== undefined && declared.length === 0 && variables.kind === "map") {
    const span = entryOf(node, "variables")?.keySpan;
    const message = '"variables" is empty';
    place.reporter.report({
      code: "TOOLSPEC_VARIABLE_INVALID",
      message,
      hint: "remove it",
      span,
      path: "variables",
    });
  }
}

/** Returns the placeholders in the path of a tool that have no parameter. */
function pathVariables(tool: DocumentNode): readonly string[] {
  const inPath = new Set(
    itemsOf(tool, "params")
      .filter((param) => stringOf(fieldOf(param, "in")) === "path")
      .map((param) => stringOf(fieldOf(param, "name"))),
  );
  const { template } = parsePathTemplate(stringOf(fieldOf(tool, "path")) ?? "", { hasReserved: true });
  return placeholdersOf(template)
    .map(({ name }) => name)
    .filter((name) => !inPath.has(name));
}

/** A default must satisfy the rules for values. */
function lintDefault(name: string, variable: DocumentNode, place: Place): void {
  const found = fieldOf(variable, "default");
  const value = stringOf(found);
  const fault = value === undefined ? undefined : segmentFault(value);
  if (found === undefined || fault === undefined) return;
  reportAt(found, place, {
    code: "TOOLSPEC_VARIABLE_INVALID",
    message: `The default of variable ${quote(name)} is not legal in a path: it ${fault}`,
    hint: "write an id, not a path",
    path: `${place.path}.default`,
  });
}
