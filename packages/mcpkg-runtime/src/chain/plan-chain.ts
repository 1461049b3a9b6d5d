/**
 * The calls of a chain before it runs: the tool of each step, and its arguments where they come from the input and from
 * literals alone. The others depend on results, which nobody knows yet. Pure, but for the functions that it is given.
 */

import type { JsonObject } from "@toolcrib/json";
import { firstNameOf, type Manifest, mapInputs, PathUse, withDefaults } from "@toolcrib/mcpkg";
import type { PlannedCall } from "@toolcrib/tool";
import type { Chain, ChainTools } from "./chain-tools.ts";

/** Returns the calls of the steps of `chain` for the input `args`, in their order. */
export function planChain(
  { input_schema: inputSchema }: Pick<Manifest, "input_schema">,
  chain: Chain,
  args: JsonObject,
  { tools, monotonicMs }: { readonly tools: Pick<ChainTools, "find">; readonly monotonicMs: () => number },
): readonly PlannedCall[] {
  const input = withDefaults(args, inputSchema);
  const limits = { now: monotonicMs, used: new PathUse() };
  return chain.map(({ step, tool, inputMapping: mapping }) => {
    const planned = { step, tool, mapping };
    if (!Object.values(mapping).every(isFromInput)) return { ...planned, arguments: undefined };
    const mapped = mapInputs(mapping, { input }, { inputSchema: tools.find(tool)?.inputSchema, limits });
    // The step reports it when the chain runs.
    return { ...planned, arguments: mapped.kind === "mapped" ? mapped.args : undefined };
  });
}

function isFromInput(source: unknown): boolean {
  return typeof source !== "string" || !source.startsWith("$") || firstNameOf(source) === "input";
}
