/**
 * JSONPath (RFC 9535) with bounded work. Paths come from a toolspec, values from
 * an untrusted service. Every node that a selector visits is a step, including
 * the nodes of queries within a filter. `match()` and `search()` are not
 * supported, because counting steps does not bound a regular expression.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";
import type { SelectJson } from "@toolcrib/toolspec";
import { JSONPathEnvironment, type JSONPathNode, type JSONPathQuery } from "json-p3";
import { ToolpackError } from "./toolpack-error.ts";

/** A path that can be applied to many values. */
export interface CompiledPath {
  /** Returns the selected values in order; each step reduces `budget`. @throws {ToolpackError} `TOOLPACK_PATH_TOO_COSTLY` */
  select(value: JsonValue, budget: StepBudget): readonly JsonValue[];
}

/** The remaining steps for all paths on one response. */
export interface StepBudget {
  left: number;
}

/** Maximum number of steps of all paths on one response. @limit server */
const stepsMaxCount = 2_000_000;
/** Steps for starting a query: a field is a query for each object of a list. */
const stepsOfQuery = 4;
/** Deepest value that `..` descends into; parsed JSON is never deeper. */
const depthMax = 200;

let known: JSONPathEnvironment | undefined;

/** The environment of all paths, made for the first: a gateway without toolspecs does not load the library. */
function environment(): JSONPathEnvironment {
  if (known === undefined) {
    known = new JSONPathEnvironment({ maxRecursionDepth: depthMax });
    for (const name of ["match", "search"]) known.functionRegister.delete(name);
  }
  return known;
}

/** Returns why `path` is not valid, for `lintCatalog`; `undefined` if it is. @throws {CodedError} `LIBRARY_UNAVAILABLE` */
export function jsonPathFault(path: string): string | undefined {
  try {
    environment().compile(path);
    return undefined;
  } catch (error) {
    // The library could not be loaded.
    if (isCodedError(error)) throw error;
    return messageOf(error);
  }
}

/** Compiles `path`. @throws {CodedError} `TOOLPACK_PATH_INVALID`, `LIBRARY_UNAVAILABLE` */
export function compilePath(path: string): CompiledPath {
  let query: JSONPathQuery;
  try {
    query = environment().compile(path);
  } catch (cause) {
    if (isCodedError(cause)) throw cause;
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
        // The JSON type of the library has mutable arrays; the query changes nothing.
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

/** Returns a function that applies `paths` to one response, with one budget for all of them. */
export function createSelect(paths: ReadonlyMap<string, CompiledPath>): SelectJson {
  const budget: StepBudget = { left: stepsMaxCount };
  return (path, value) => paths.get(path)?.select(value, budget) ?? [];
}

/** A selector of a compiled query. */
interface Selector {
  resolve(node: JSONPathNode): JSONPathNode[];
}

/** Makes every selector below `part`, also in filters, charge its steps to `meter`. */
function countSteps(part: unknown, meter: StepBudget): void {
  if (typeof part !== "object" || part === null || part === known) return;
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

/** Segments have `resolve` and `selectors`; selectors have only `resolve`. */
function isSelector(part: object): part is Selector {
  return "resolve" in part && typeof part.resolve === "function" && !("selectors" in part);
}

/** Returns the number of children that a selector can visit. */
function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function spend(meter: StepBudget, steps: number): void {
  meter.left -= steps;
  if (meter.left < 0) throw new RangeError("too many steps");
}
