/**
 * Derives the variables of a toolspec from an example, which contains the URL of
 * its request and not the configuration.
 */

import { parseBaseUrl, variablesMaking } from "../spec/base-url.ts";
import { matchBetween } from "../spec/match-template.ts";
import { type PathPart, parsePathTemplate } from "../spec/path-template.ts";
import type { Toolspec, ToolspecTool } from "../spec/toolspec.ts";

/**
 * Returns the values of the variables that the request of `tool` for `url` needs,
 * as far as the URL contains them: variables of the host, and variables that are
 * a path segment, alone or with literal text around them.
 */
export function exampleVariables(
  tool: ToolspecTool,
  spec: Pick<Toolspec, "baseUrl" | "schemaVersion">,
  url: string,
): { readonly [name: string]: string } {
  const [, host = "", path = ""] = /^https:\/\/([^/?#]*)([^?#]*)/.exec(url) ?? [];
  const base = parseBaseUrl(tool.baseUrl ?? spec.baseUrl, { hasVariables: spec.schemaVersion === 2 });
  const ofHost = "host" in base ? variablesMaking(base, host) : undefined;
  return { ...ofPath(tool, path), ...ofHost };
}

function ofPath(tool: ToolspecTool, path: string): { readonly [name: string]: string } {
  const params = new Set(tool.params?.filter((param) => param.in === "path").map(({ name }) => name));
  const { segments } = parsePathTemplate(tool.path, { hasReserved: true }).template;
  const written = path.slice(1).split("/");
  // After a value with slashes, segments are counted from the end.
  const first = segments.findIndex((segment) =>
    segment.some((part) => part.kind === "placeholder" && part.keepsSlashes),
  );
  const found: { [name: string]: string } = {};
  for (const [index, segment] of segments.entries()) {
    const isBehind = first !== -1 && index > first;
    const text = written[isBehind ? written.length - segments.length + index : index] ?? "";
    const variable = loneVariable(segment, params);
    if (variable === undefined || Object.hasOwn(found, variable.name)) continue;
    const [value] = matchBetween([variable.before, variable.behind], text) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (decoded !== undefined) found[variable.name] = decoded;
  }
  return found;
}

interface LoneVariable {
  readonly name: string;
  readonly before: string;
  readonly behind: string;
}

/** Returns the variable of a segment that contains only it and literal text. */
function loneVariable(segment: readonly PathPart[], params: ReadonlySet<string>): LoneVariable | undefined {
  const at = segment.findIndex((part) => part.kind === "placeholder");
  const part = segment[at];
  if (part?.kind !== "placeholder" || part.keepsSlashes || params.has(part.name)) return undefined;
  const rest = segment.slice(at + 1);
  if (rest.some(({ kind }) => kind === "placeholder")) return undefined;
  return { name: part.name, before: literalOf(segment.slice(0, at)), behind: literalOf(rest) };
}

function literalOf(parts: readonly PathPart[]): string {
  return parts.map((part) => (part.kind === "literal" ? part.text : "")).join("");
}

/** Returns `undefined` for text that is not percent-encoded UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
