/** Checks, before any call, that configured values of variables are legal in paths. */

import { parsePathTemplate, placeholdersOf, segmentFault } from "../spec/path-template.ts";
import type { Toolspec, ToolspecTool } from "../spec/toolspec.ts";

/** A variable whose value is not legal in a path. */
export interface VariableFault {
  readonly name: string;
  /** Continues a sentence that begins with the value. */
  readonly reason: string;
}

/** Returns the entries of `values` that are not legal in the paths of `spec`. Does not check the hosts that they produce. */
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
