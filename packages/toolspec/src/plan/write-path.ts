/**
 * Writes the path of a request. A value stays within its segment: it adds no
 * segment, no decoder reads it as `.` or `..`, and it contains no control characters.
 */

import { quote } from "@toolcrib/document";
import {
  hidesControls,
  isDotSegment,
  type PathPart,
  type PathTemplate,
  parsePathTemplate,
  segmentFault,
} from "../spec/path-template.ts";
import type { ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { type Argument, argumentText, textOf } from "./arguments.ts";
import { encodeSegment } from "./percent.ts";

/** A path, ready to be sent, and the number of segments that every parser must find in it. */
export interface WrittenPath {
  readonly path: string;
  readonly segmentCount: number;
}

/** Source of the values in a path. */
export interface PathOptions {
  readonly hasReserved: boolean;
  /** Whether a parameter keeps its slashes. */
  readonly keepsSlashes: (name: string) => boolean;
  /** Returns the value of a variable, or `undefined` when it has none. */
  readonly variableOf: (name: string) => string | undefined;
}

/**
 * Writes the path of `tool`. A placeholder takes the value of the parameter with
 * its name, or else of the variable.
 *
 * @throws {ToolspecError} `TOOLSPEC_VALUE_HOSTILE` for a parameter, `TOOLSPEC_VARIABLE_UNSET` for a variable.
 */
export function writePath(tool: ToolspecTool, args: readonly Argument[], options: PathOptions): WrittenPath {
  const template = templateOf(tool, options.hasReserved);
  const values = new Map(
    args.filter(({ param }) => param.in === "path").map((one) => [one.param.name, pathText(one)]),
  );
  const written = template.segments.map((segment) => {
    const parts = segment.map((part) => {
      if (part.kind === "literal") return part.text;
      const value = values.get(part.name);
      if (value === undefined) return writeVariable(part.name, tool.path, options.variableOf(part.name));
      return writeValue(part.name, value, part.keepsSlashes || options.keepsSlashes(part.name));
    });
    return parts.join("");
  });
  for (const [index, segment] of written.entries()) {
    const parts = template.segments[index] ?? [];
    if (isDotSegment(segment)) refuseSegment(parts, values, 'produces a segment "." or ".."');
    if (parts.length > 1 && hidesControls(segment)) {
      refuseSegment(parts, values, "produces a segment that contains control characters");
    }
  }
  const path = `/${written.join("/")}`;
  return { path, segmentCount: path.split("/").length };
}

/** Parsed path templates by tool, with and without `{+name}`. They are constant, and every call needs them. */
const [reservedTemplates, plainTemplates] = [
  new WeakMap<ToolspecTool, PathTemplate>(),
  new WeakMap<ToolspecTool, PathTemplate>(),
];

function templateOf(tool: ToolspecTool, hasReserved: boolean): PathTemplate {
  const templates = hasReserved ? reservedTemplates : plainTemplates;
  let template = templates.get(tool);
  if (template === undefined) {
    ({ template } = parsePathTemplate(tool.path, { hasReserved }));
    templates.set(tool, template);
  }
  return template;
}

function pathText(argument: Argument): string {
  const { value } = argument;
  return Array.isArray(value) ? value.map(textOf).join(",") : argumentText(argument);
}

function writeValue(name: string, value: string, keepsSlashes: boolean): string {
  const parts = keepsSlashes ? value.split("/") : [value];
  return parts.map((part) => writePart(name, part, parts.length > 1)).join("/");
}

function writePart(name: string, part: string, isOneOfSeveral: boolean): string {
  if (part === "" && isOneOfSeveral)
    return refuse(name, "has nothing between two slashes, and would change the path");
  const fault = segmentFault(part);
  return fault === undefined ? encodeSegment(part) : refuse(name, fault);
}

/** Two harmless values next to each other can form a harmful segment. */
function refuseSegment(
  segment: readonly PathPart[],
  values: ReadonlyMap<string, string>,
  effect: string,
): void {
  const names = segment.flatMap((part) => (part.kind === "placeholder" ? [part.name] : []));
  const state = `${effect}, and would change the path`;
  const named = names.find((name) => values.has(name));
  if (named !== undefined) refuse(named, state);
  if (names[0] !== undefined) refuseVariable(names[0], state);
}

function refuse(name: string, state: string): never {
  throw new ToolspecError(
    "TOOLSPEC_VALUE_HOSTILE",
    `Cannot send parameter ${quote(name)} in the path: it ${state}`,
    {
      hint: "give an id, not a path",
    },
  );
}

/** A variable is always one segment, or a part of one. */
function writeVariable(name: string, path: string, value: string | undefined): string {
  if (value === undefined) {
    const message = `Variable ${quote(name)} of path ${quote(path)} has no value`;
    throw new ToolspecError("TOOLSPEC_VARIABLE_UNSET", message, { hint: unsetHint(name) });
  }
  const fault = segmentFault(value);
  return fault === undefined ? encodeSegment(value) : refuseVariable(name, fault);
}

/** Returns the hint for a variable without a value. */
export function unsetHint(name: string): string {
  return `set ${name} in the variables of the toolspec`;
}

function refuseVariable(name: string, state: string): never {
  const message = `Variable ${quote(name)} cannot be used in the path: it ${state}`;
  throw new ToolspecError("TOOLSPEC_VARIABLE_UNSET", message, { hint: "give an id, not a path" });
}
