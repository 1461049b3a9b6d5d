/** Variables in paths, before there is a call: whether the values that a configuration gives can stand there. */

import { parsePathTemplate, placeholdersOf, segmentFault } from "../spec/path-template.ts";
import type { Toolspec, ToolspecTool } from "../spec/toolspec.ts";

/** A variable with a value that cannot stand in a path. */
export interface VariableFault {
  readonly name: string;
  /** The end of a sentence that begins with the value. */
  readonly reason: string;
}

/** What of `values` cannot stand in the paths of `spec`. Whether the hosts that they make may be reached is another question. */
export function pathVariableFaults(
  spec: Toolspec,
  values: { readonly [name: string]: string },
): readonly VariableFault[] {
  const names = new Set(spec.schemaVersion === 2 ? spec.tools.flatMap(variablesIn) : []);
  return Object.entries(values).flatMap(([name, value]) => {
    const reason = names.has(name) ? segmentFault(value) : undefined;
    return reason === undefined ? [] : [{ name, reason }];
  });
}

function variablesIn({ path, params = [] }: ToolspecTool): readonly string[] {
  const inPath = new Set(params.flatMap((param) => (param.in === "path" ? [param.name] : [])));
  return placeholdersOf(parsePathTemplate(path, { hasReserved: true }).template)
    .map(({ name }) => name)
    .filter((name) => !inPath.has(name));
}
