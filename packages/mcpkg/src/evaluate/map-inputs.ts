/**
 * The arguments of a step of a chain (MCPKG document, section 11.4), from its mapping and from
 * what earlier steps gave. Pure: calls nothing.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { evaluatePath, type PathMatch } from "../json-path/evaluate-path.ts";
import { type PathLimits, PathUse } from "../json-path/path-budget.ts";
import { McpkgError } from "../mcpkg-error.ts";

/** An argument that a mapping does not give. */
export interface MappingProblem {
  /** Name of the argument. */
  readonly name: string;
  readonly message: string;
}

/** The arguments of a step, or why there are none. */
export type MappedInputs =
  | { readonly kind: "mapped"; readonly args: JsonObject }
  | { readonly kind: "failed"; readonly problems: readonly MappingProblem[] };

/** Options of `mapInputs`. */
export interface MapInputsOptions {
  /** Input schema of the tool that the step calls: a default in it stands for a path without a match. @default none */
  readonly inputSchema?: JsonObject;
  /** Limits for all paths together, and with `used` also for those of other steps. */
  readonly limits?: PathLimits;
}

/**
 * Returns the arguments of a step. A text that begins with `$` is a JSONPath into `scope`, which
 * has `input` and the output of each earlier step; everything else is a literal. A path with one
 * match gives its value, several give a list, none is a problem unless the input schema of the
 * called tool has a default for the argument. All problems are reported together.
 */
export function mapInputs(
  mapping: { readonly [name: string]: JsonValue | undefined },
  scope: JsonObject,
  options: MapInputsOptions = {},
): MappedInputs {
  const args: [string, JsonValue][] = [];
  const problems: MappingProblem[] = [];
  const limits = { used: new PathUse(), ...options.limits };
  for (const [name, source] of Object.entries(mapping)) {
    if (source === undefined) continue;
    if (typeof source !== "string" || !source.startsWith("$")) {
      args.push([name, source]);
      continue;
    }
    try {
      const value = mappedValue(evaluatePath(source, scope, limits), name, options.inputSchema);
      if (value === undefined) problems.push({ name, message: withoutMatch(name, source, scope) });
      else args.push([name, value]);
    } catch (thrown) {
      if (!(thrown instanceof McpkgError)) throw thrown;
      problems.push({ name, message: `The mapping of "${name}" cannot be evaluated: ${thrown.message}` });
    }
  }
  return problems.length > 0
    ? { kind: "failed", problems }
    : { kind: "mapped", args: Object.fromEntries(args) };
}

function mappedValue(
  matches: readonly PathMatch[],
  name: string,
  inputSchema: JsonObject | undefined,
): JsonValue | undefined {
  const [first] = matches;
  if (first === undefined) return inputSchema === undefined ? undefined : defaultsOf(inputSchema).get(name);
  return matches.length === 1 ? first.value : matches.map(({ value }) => value);
}

function withoutMatch(name: string, path: string, scope: JsonObject): string {
  return `The mapping of "${name}" gives nothing: "${path}" matches nothing in ${Object.keys(scope).join(", ")}`;
}

/**
 * Returns `input` with the defaults of `inputSchema` for properties that it does not have, also in
 * objects that it has. A default of an absent object is used whole. Changes nothing in place.
 */
export function withDefaults(input: JsonObject, inputSchema: JsonObject): JsonObject {
  return fill(input, inputSchema, 0);
}

const filledMaxDepth = 32;

function fill(input: JsonObject, schema: JsonObject, depth: number): JsonObject {
  const members = new Map<string, JsonValue | undefined>(Object.entries(input));
  const { properties } = schema;
  if (isJsonObject(properties) && depth < filledMaxDepth) {
    for (const [name, property] of Object.entries(properties)) {
      const value = members.get(name);
      if (isJsonObject(value) && isJsonObject(property)) members.set(name, fill(value, property, depth + 1));
    }
  }
  for (const [name, value] of defaultsOf(schema))
    if (members.get(name) === undefined) members.set(name, value);
  return Object.fromEntries(members);
}

/** Defaults of the properties of a schema, by name. */
function defaultsOf({ properties }: JsonObject): ReadonlyMap<string, JsonValue> {
  const defaults = new Map<string, JsonValue>();
  if (!isJsonObject(properties)) return defaults;
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property) && property["default"] !== undefined) defaults.set(name, property["default"]);
  }
  return defaults;
}
