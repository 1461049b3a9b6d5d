/**
 * Texts in clients' files with the variables that the client replaces. Each client has its own notation; a text of a
 * client that replaces nothing is literal. Pure.
 */

/** A part of a text: literal, or what takes its place when the server starts. */
export type ImportPart =
  | string
  | { readonly variable: string; readonly fallback: string | undefined }
  | { readonly folder: "project" | "home" }
  /** A question that the client asks its user, or a secret that it keeps; `fallback` is its default. */
  | { readonly input: string; readonly fallback: string | undefined }
  /** Only the client knows the value. */
  | { readonly unknown: string };

/** A text as parts; a literal text is one. */
export type ImportText = readonly ImportPart[];

/** The notation of variables. */
export type VariableStyle = "none" | "braces" | "shell" | "opencode" | "continue";

/** Defaults of questions by their id; undefined where a question has none. */
export type InputDefaults = ReadonlyMap<string, string | undefined>;

const patterns: { readonly [S in Exclude<VariableStyle, "none">]: RegExp } = {
  braces: /\$\{([^{}]{0,1000})\}/g,
  shell: /\$\{([^{}]{0,1000})\}|\$([A-Za-z_][A-Za-z0-9_]*)/g,
  opencode: /\{((?:env|file):[^{}]{0,1000})\}/g,
  continue: /\$\{\{\s{0,20}([^{}]{0,1000}?)\s{0,20}\}\}/g,
};

/** Splits a text at its variables. */
export function parseImportText(text: string, style: VariableStyle, inputs: InputDefaults): ImportText {
  if (style === "none") return [text];
  const parts: ImportPart[] = [];
  let at = 0;
  for (const match of text.matchAll(patterns[style])) {
    const part = partOf(match[1] ?? match[2] ?? "", style, inputs);
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(part);
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at));
  return parts;
}

function partOf(inner: string, style: VariableStyle, inputs: InputDefaults): ImportPart {
  if (style === "continue") {
    const name = /^(?:secrets|inputs)\.(.+)$/.exec(inner)?.[1];
    return name === undefined ? { unknown: inner } : { input: name, fallback: undefined };
  }
  if (inner === "workspaceFolder" || inner === "workspaceRoot") return { folder: "project" };
  if (inner === "userHome") return { folder: "home" };
  if (inner === "pathSeparator" || inner === "/") return "/";
  const input = /^input:(.+)$/.exec(inner)?.[1];
  if (input !== undefined) return { input, fallback: inputs.get(input) };
  const [, variable, fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(inner) ?? [];
  return variable === undefined ? { unknown: inner } : { variable, fallback };
}
