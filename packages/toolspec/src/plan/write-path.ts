/**
 * The path of a request. A value stays within its segment: it adds none, is
 * none of `.` and `..` to anyone on the way, and holds no control characters.
 */

import { toolspecValueHostile } from "../codes.ts";
import { quote } from "../document/reporter.ts";
import { decodings, isDotSegment, type PathTemplate, parsePathTemplate } from "../spec/path-template.ts";
import type { ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { type Argument, argumentText, textOf } from "./arguments.ts";
import { encodeSegment } from "./percent.ts";

/** A path as it is sent, and how many segments it must have whoever reads it. */
export interface WrittenPath {
  readonly path: string;
  readonly segmentCount: number;
}

/** Fill in the path of `tool`. @throws {ToolspecError} `TOOLSPEC_VALUE_HOSTILE`. */
export function writePath(
  tool: ToolspecTool,
  args: readonly Argument[],
  options: { readonly hasReserved: boolean; readonly keepsSlashes: (name: string) => boolean },
): WrittenPath {
  const { template } = parsePathTemplate(tool.path, { hasReserved: options.hasReserved });
  const values = new Map(
    args.filter(({ param }) => param.in === "path").map((one) => [one.param.name, pathText(one)]),
  );
  const written = template.segments.map((segment) => {
    const parts = segment.map((part) => {
      if (part.kind === "literal") return part.text;
      const keepsSlashes = part.keepsSlashes || options.keepsSlashes(part.name);
      return writeValue(part.name, values.get(part.name) ?? "", keepsSlashes);
    });
    return parts.join("");
  });
  for (const [index, segment] of written.entries()) checkSegment(segment, template, index);
  const path = `/${written.join("/")}`;
  return { path, segmentCount: path.split("/").length };
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
  if (part === "") {
    const state = isOneOfSeveral ? "has nothing between two slashes" : "is empty";
    return refuse(name, `${state}, and would change the path`);
  }
  if (decodings(part).some((form) => /[\x00-\x1f\x7f-\x9f]/.test(form)))
    return refuse(name, "holds control characters");
  if (isDotSegment(part))
    return refuse(name, 'is or holds "." or ".." as a segment, and would change the path');
  return encodeSegment(part);
}

/** Two harmless values side by side may make a segment that is not. */
function checkSegment(segment: string, template: PathTemplate, index: number): void {
  const named = template.segments[index]?.find((part) => part.kind === "placeholder");
  if (named?.kind === "placeholder" && isDotSegment(segment))
    refuse(named.name, 'makes a segment "." or "..", and would change the path');
}

function refuse(name: string, state: string): never {
  throw new ToolspecError(
    toolspecValueHostile,
    `Cannot send parameter ${quote(name)} in the path: it ${state}`,
    {
      hint: "give an id, not a path",
    },
  );
}
