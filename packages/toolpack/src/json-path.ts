/**
 * JSONPath (RFC 9535) with an upper bound on its work. Paths come from a
 * toolspec, values from a service that is not trusted: every node that a
 * selector looks at is a step, and so is every node of every query within a
 * filter. `match()` and `search()` are not there, because no number of steps
 * bounds a regular expression.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";
import type { SelectJson } from "@toolcrib/toolspec";
import { JSONPathEnvironment, type JSONPathNode, type JSONPathQuery } from "json-p3";
import { ToolpackError } from "./toolpack-error.ts";

/** A path that can be applied to many values. */
export interface CompiledPath {
  /** What it finds, in order, by steps of `budget`. @throws {ToolpackError} `TOOLPACK_PATH_TOO_COSTLY` */
  select(value: JsonValue, budget: StepBudget): readonly JsonValue[];
}

/** Steps that are left for all paths that are applied to one response. */
export interface StepBudget {
  left: number;
}

/** Most steps of all paths that are applied to one response. */
const stepsMaxCount = 2_000_000;
/** Steps of beginning with a value: a field is a path for each object of a list. */
const stepsOfQuery = 4;
/** Deepest value that `..` goes into; JSON that is read here is no deeper. */
const depthMax = 200;

const environment = new JSONPathEnvironment({ maxRecursionDepth: depthMax });
for (const name of ["match", "search"]) environment.functionRegister.delete(name);

/** What keeps `path` from being used, for `lintCatalog`; `undefined` where nothing does. */
export function jsonPathFault(path: string): string | undefined {
  try {
    environment.compile(path);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Compile `path`. @throws {ToolpackError} `TOOLPACK_PATH_INVALID` */
export function compilePath(path: string): CompiledPath {
  let query: JSONPathQuery;
  try {
    query = environment.compile(path);
  } catch (cause) {
    const message = `Cannot use the JSONPath ${JSON.stringify(path)}: ${messageOf(cause)}`;
    throw new ToolpackError("TOOLPACK_PATH_INVALID", message, {
      hint: "write a path of RFC 9535 without match() and search()",
      cause,
    });
  }
  const meter: StepBudget = { left: 0 };
  countSteps(query, meter);
  return {
    select(value, budget) {
      meter.left = budget.left;
      try {
        spend(meter, stepsOfQuery);
        // Its type of JSON has mutable arrays; nothing is changed.
        const nodes = query.lazyQuery(value as Parameters<JSONPathQuery["query"]>[0]);
        return Array.from(nodes, (node) => node.value as JsonValue);
      } catch (cause) {
        const message = `The JSONPaths of this tool take more than ${stepsMaxCount} steps on this response, at ${JSON.stringify(path)}`;
        throw new ToolpackError("TOOLPACK_PATH_TOO_COSTLY", message, { cause });
      } finally {
        budget.left = meter.left;
      }
    },
  };
}

/** Applies `paths` to one response, all of them together within the bound. */
export function createSelect(paths: ReadonlyMap<string, CompiledPath>): SelectJson {
  const budget: StepBudget = { left: stepsMaxCount };
  return (path, value) => paths.get(path)?.select(value, budget) ?? [];
}

/** A selector of a compiled query. */
interface Selector {
  resolve(node: JSONPathNode): JSONPathNode[];
}

/** Make every selector below `part`, in filters too, take its steps from `meter`. */
function countSteps(part: unknown, meter: StepBudget): void {
  if (typeof part !== "object" || part === null || part === environment) return;
  if (isSelector(part)) {
    const resolve = part.resolve.bind(part);
    part.resolve = (node) => {
      spend(meter, 1 + sizeOf(node.value));
      return resolve(node);
    };
  }
  for (const field of ["segments", "selectors", "expression", "path", "left", "right", "args"]) {
    const within: unknown = (part as { readonly [field: string]: unknown })[field];
    for (const one of Array.isArray(within) ? within : [within]) countSteps(one, meter);
  }
}

/** Segments have `resolve` and `selectors`; what has the first alone is a selector. */
function isSelector(part: object): part is Selector {
  return "resolve" in part && typeof part.resolve === "function" && !("selectors" in part);
}

/** Children that a selector may go through. */
function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function spend(meter: StepBudget, steps: number): void {
  meter.left -= steps;
  if (meter.left < 0) throw new RangeError("too many steps");
}
