/**
 * Checks a chain (MCPKG document, section 11) by itself: names of steps, and what their
 * mappings refer to at that point. Whether the tools exist is known only where it runs. Pure.
 */

import type { Problem } from "@toolcrib/document";
import { firstNameOf, lintJsonPath } from "../json-path/parse-path.ts";
import type { ChainStep, Manifest } from "./manifest-shape.ts";

/** A finding about a member of a manifest. */
export interface MemberProblem extends Problem {
  /** Place of the member: names and indexes from the root. */
  readonly at: readonly (string | number)[];
}

/** Returns the findings about the chain of `manifest`. */
export function lintChain({ chain = [], toolId, input_schema: inputSchema }: Manifest): MemberProblem[] {
  const problems: MemberProblem[] = [];
  // What mappings can refer to: the input, and the outputs of earlier steps by two names each.
  const known = new Set(["input"]);
  const later = new Set(chain.flatMap(({ step, outputKey }) => [step, outputKey]));
  for (const [index, step] of chain.entries()) {
    const at = ["chain", index] as const;
    problems.push(...lintMapping(step, index, known, later, inputSchema));
    if (step.tool === toolId) {
      const message = `Step "${step.step}" calls the tool of this package`;
      problems.push({ code: "MCPKG_CHAIN_INVALID", message, at: [...at, "tool"] });
    }
    for (const [member, name] of Object.entries({ step: step.step, outputKey: step.outputKey })) {
      const isOwn = member === "outputKey" && name === step.step;
      if (known.has(name) && !isOwn) {
        const message = `"${name}" is used already; every step and every outputKey has a name of its own`;
        problems.push({ code: "MCPKG_CHAIN_INVALID", message, at: [...at, member] });
      }
      known.add(name);
    }
  }
  return problems;
}

function lintMapping(
  { step, inputMapping }: ChainStep,
  index: number,
  known: ReadonlySet<string>,
  later: ReadonlySet<string>,
  inputSchema: Manifest["input_schema"],
): MemberProblem[] {
  return Object.entries(inputMapping).flatMap(([name, value]): MemberProblem[] => {
    if (typeof value !== "string" || !value.startsWith("$")) return [];
    const at = ["chain", index, "inputMapping", name];
    const reason = lintJsonPath(value);
    if (reason !== undefined) {
      const message = `The mapping of "${name}" is not a JSONPath: ${reason}`;
      const hint = "see RFC 9535; a text that begins with $ is a path";
      return [{ code: "MCPKG_JSON_PATH_INVALID", message, hint, at }];
    }
    const first = firstNameOf(value);
    if (first === undefined || known.has(first)) return lintInputPath(value, first, inputSchema, at);
    const message = later.has(first)
      ? `Step "${step}" uses "${first}", which is not known before a later step`
      : `Step "${step}" uses "${first}", which is no step, no outputKey and not input`;
    const hint = `known at this step: ${[...known].join(", ")}`;
    return [{ code: "MCPKG_CHAIN_INVALID", message, hint, at }];
  });
}

/** A property that the input schema does not have is a spelling mistake, or needs to be in the schema. */
function lintInputPath(
  path: string,
  first: string | undefined,
  { properties, additionalProperties }: Manifest["input_schema"],
  at: readonly (string | number)[],
): MemberProblem[] {
  const name =
    first === "input"
      ? firstNameOf(path.replace(/^\$\s*(?:\.\s*input|\[\s*["']input["']\s*\])/, "$"))
      : undefined;
  if (name === undefined || typeof properties !== "object" || properties === null) return [];
  if (Object.hasOwn(properties, name) || additionalProperties === true) return [];
  const message = `"${path}" names the input property "${name}", which the input schema does not have`;
  return [{ severity: "warning", code: "MCPKG_CHAIN_INVALID", message, at }];
}
