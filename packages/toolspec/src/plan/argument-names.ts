/**
 * Names of tool parameters in input schemas. A parameter has the name that its
 * API defines, such as `filter[query]` or `$top`. Some clients refuse a tool with
 * such properties: Anthropic's API allows letters, digits, `_`, `.` and `-`, at
 * most 64 characters. A parameter with another name gets a legal name in the
 * input schema; a call can use either name.
 */

import { quote } from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";
import type { ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";

const fitName = /^[A-Za-z0-9_.-]{1,64}$/;
const maxLength = 64;

interface Names {
  /** Maps parameter names to argument names. */
  readonly ofParams: ReadonlyMap<string, string>;
  /** Maps argument names to parameter names, where the two differ. */
  readonly toParams: ReadonlyMap<string, string>;
}

const known = new WeakMap<ToolspecTool, Names>();

function namesOf(tool: ToolspecTool): Names {
  const found = known.get(tool);
  if (found !== undefined) return found;
  const names = makeNames((tool.params ?? []).map(({ name }) => name));
  known.set(tool, names);
  return names;
}

function makeNames(params: readonly string[]): Names {
  const ofParams = new Map<string, string>();
  const toParams = new Map<string, string>();
  const taken = new Set(params.filter((name) => fitName.test(name)));
  for (const name of params) {
    const fit = fitName.test(name) ? name : makeFit(name, taken);
    ofParams.set(name, fit);
    if (fit !== name) toParams.set(fit, name);
    taken.add(fit);
  }
  return { ofParams, toParams };
}

function makeFit(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]+/g, "_").replace(/^_+|_+$/g, "");
  const base = (plain === "" ? "param" : plain).slice(0, maxLength);
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const ending = `_${number}`;
    const numbered = `${base.slice(0, maxLength - ending.length)}${ending}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/** Returns the property name of the parameter `param` in the input schema of `tool`. */
export function argumentName(tool: ToolspecTool, param: string): string {
  return namesOf(tool).ofParams.get(param) ?? param;
}

/**
 * Returns `args` with the names of parameters as keys; unknown names are kept.
 * @throws {ToolspecError} `TOOLSPEC_ARGUMENT_INVALID` when both names of one parameter are given.
 */
export function toParamNames(tool: ToolspecTool, args: JsonObject): JsonObject {
  const { toParams } = namesOf(tool);
  if (toParams.size === 0 || !Object.keys(args).some((name) => toParams.has(name))) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const param = toParams.get(name);
      if (param === undefined) return [name, value];
      if (!Object.hasOwn(args, param)) return [param, value];
      const message = `Parameter ${quote(param)} of tool ${quote(tool.name)} is given twice, as ${quote(name)} too`;
      throw new ToolspecError("TOOLSPEC_ARGUMENT_INVALID", message, { hint: `leave out ${quote(param)}` });
    }),
  );
}
