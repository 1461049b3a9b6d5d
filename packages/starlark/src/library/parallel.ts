/**
 * `parallel` and `parallel_map` of the tool dialect, which run several functions
 * concurrently.
 */

import { ParallelCalls } from "../run/deferred.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { toItems } from "../value/iterate.ts";
import type { Value } from "../value/value.ts";
import { wantSafeInt } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";

/** Default number of functions that run at a time. */
export const defaultWidth = 8;
/** Maximum number of functions that run at a time. @limit program */
export const maxWidth = 64;
/** Maximum number of functions in one call. @limit program */
export const maxParallelCalls = 1000;

const shared =
  "Captured variables are frozen while they run, so that the result does not depend on the order of execution. " +
  "Output and results are in the order of the list. If several calls fail, the error of the first one in the list " +
  "is raised after all have ended.";

/** The builtins of this file. */
export const parallelBuiltins: readonly Builtin[] = [
  builtin(
    "parallel(functions, /, limit?)",
    `Calls each function of a list, without arguments, at most \`limit\` (${defaultWidth}) at a time, and returns the list of their results. ${shared} ` +
      "`parallel([lambda: 1, lambda: 2])` gives `[1, 2]`",
    (t: Thread, _self: Value, functions: Value, limit?: Value) => {
      const callees = toItems(functions, t);
      checkCount("parallel", callees.length);
      return new ParallelCalls(
        callees.map((callee) => ({ callee, args: [] })),
        width("parallel", limit),
      );
    },
    { defers: true },
  ),
  builtin(
    "parallel_map(function, items, /, limit?)",
    `Calls \`function\` with each of \`items\`, at most \`limit\` (${defaultWidth}) at a time, and returns the list of the results. ${shared} ` +
      "`parallel_map(lambda x: x * x, [1, 2, 3])` gives `[1, 4, 9]`",
    (t: Thread, _self: Value, callee: Value, items: Value, limit?: Value) => {
      const given = toItems(items, t);
      checkCount("parallel_map", given.length);
      return new ParallelCalls(
        given.map((item) => ({ callee, args: [item] })),
        width("parallel_map", limit),
      );
    },
    { defers: true },
  ),
];

function width(name: string, limit: Value | undefined): number {
  if (limit === undefined || limit === null) return defaultWidth;
  const asked = wantSafeInt(name, "limit", limit);
  if (asked < 1 || asked > maxWidth) {
    throw new StarlarkError(`${name}: limit ${asked} out of range: want 1 to ${maxWidth}`);
  }
  return asked;
}

function checkCount(name: string, count: number): void {
  if (count <= maxParallelCalls) return;
  throw new StarlarkError(`${name}: got ${count} functions, want at most ${maxParallelCalls}`);
}
