/**
 * Parses variables in the files of other programs: `${NAME}`,
 * `${NAME:-default}`, `${env:NAME}` and a few that name folders. Toolcrib's own
 * files have no variables.
 */

import type { TemplatePart } from "./config-types.ts";

export interface ParsedTemplate {
  readonly parts: readonly TemplatePart[];
  /** Contents of the braces of variables that only the other program can fill in. */
  readonly unknown: readonly string[];
}

const environmentVariable = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** Splits `text` at its variables; a text without variables is one part. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  const unknown: string[] = [];
  let at = 0;
  for (const match of text.matchAll(/\$\{([^{}]{0,1000})\}/g)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    const part = toPart(match[1] ?? "");
    if (part === undefined) unknown.push(match[1] ?? "");
    else parts.push(part);
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at));
  return { parts, unknown };
}

function toPart(inner: string): TemplatePart | undefined {
  if (inner === "workspaceFolder") return { folder: "workspace" };
  if (inner === "userHome") return { variable: "HOME", fallback: undefined };
  if (inner === "pathSeparator" || inner === "/") return "/";
  const [, variable, fallback] = environmentVariable.exec(inner) ?? [];
  return variable === undefined ? undefined : { variable, fallback };
}
