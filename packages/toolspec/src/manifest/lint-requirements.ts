/** Checks what a manifest says that its server does not work without. Reads the tree. */

import { type DocumentNode, entryOf, fieldOf, type Place, reportAt, stringOf } from "@toolcrib/document";
import { loaderVariable } from "./loader-variable.ts";

const code = "MANIFEST_REQUIREMENT_INVALID";

/** Reports a requirement that is neither a variable nor an argument, or both, or that chooses foreign code. */
export function lintRequirement(node: DocumentNode, place: Place): void {
  const variable = entryOf(node, "variable");
  const argument = entryOf(node, "argument");
  if ((variable === undefined) === (argument === undefined)) {
    const state = variable === undefined ? "neither variable nor argument" : "variable and argument";
    const message = `A requirement is one value, and this one has ${state}`;
    reportAt(node, place, { code, message, hint: "write variable: NAME or argument: NAME" });
  }
  const option = entryOf(node, "option");
  if (option !== undefined && argument === undefined) {
    const message = 'A requirement has "option", which stands before an argument, and no argument';
    reportAt(option.value, place, { code, message, hint: "remove option", span: option.keySpan });
  }
  const name = stringOf(variable?.value);
  if (variable === undefined || name === undefined || loaderVariable(name) === undefined) return;
  reportAt(variable.value, place, {
    code: "MANIFEST_LOADER_VARIABLE",
    message: `The manifest requires ${name}, a variable that chooses the code that a program loads when it starts`,
    hint: "remove it",
  });
}

/** Reports requirements of an API, whose values are variables of its toolspec. */
export function lintRequirements(node: DocumentNode, place: Place): void {
  const requires = entryOf(node, "requires");
  if (requires === undefined || stringOf(fieldOf(fieldOf(node, "image"), "builder")) !== "toolpack") return;
  reportAt(requires.value, place, {
    code,
    message: 'The manifest of an API has "requires", which is for servers',
    hint: "declare variables in the toolspec",
    span: requires.keySpan,
  });
}
