/**
 * Texts in clients' files with the variables that the client replaces. Each client has its own notation; a text of a
 * client that replaces nothing is literal. Pure.
 */

/** A part of a text: literal, or what takes its place when the server starts. */
export type ImportPart =
  | string
  | { readonly variable: string; readonly fallback: string | undefined }
  | { readonly folder: "project" | "project-name" | "home" }
  /** The content of a file; the path is absolute, or begins with `~/`. */
  | { readonly file: string }
  /** A question that the client asks its user, or a secret that it keeps; `fallback` is its default. */
  | { readonly input: string; readonly fallback: string | undefined }
  /** Only the client knows the value. */
  | { readonly unknown: string };

/** A text as parts; a literal text is one. */
export type ImportText = readonly ImportPart[];

/** The notation of variables. */
export type VariableStyle =
  | "none"
  | "braces"
  | "shell"
  | "windows"
  | "jetbrains"
  | "opencode"
  | "continue"
  | "continue-json";

/** Defaults of questions by their id; undefined where a question has none. */
export type InputDefaults = ReadonlyMap<string, string | undefined>;

const patterns: { readonly [S in Exclude<VariableStyle, "none">]: RegExp } = {
  braces: /\$\{([^{}]{0,1000})\}/g,
  shell: /\$\{([^{}]{0,1000})\}|\$([A-Za-z_][A-Za-z0-9_]*)/g,
  windows: /\$\{([^{}]{0,1000})\}|\$([A-Za-z_][A-Za-z0-9_]*)|%([A-Za-z_][A-Za-z0-9_]*)%/g,
  // Macros in the settings of an IDE.
  jetbrains: /\$(USER_HOME|PROJECT_DIR)\$/g,
  opencode: /\{((?:env|file):[^{}]{0,1000})\}/g,
  continue: /\$\{\{\s{0,20}([^{}]{0,1000}?)\s{0,20}\}\}/g,
  // A file of another client in the folder of Continue, which takes its variables for secrets.
  "continue-json": /\$\{\{\s{0,20}([^{}]{0,1000}?)\s{0,20}\}\}|\$\{([^{}]{0,1000})\}/g,
};

/** Splits a text at its variables. */
export function parseImportText(text: string, style: VariableStyle, inputs: InputDefaults): ImportText {
  if (style === "none") return [text];
  const parts: ImportPart[] = [];
  let at = 0;
  for (const match of text.matchAll(patterns[style])) {
    const part = partOf(match[1] ?? match[2] ?? match[3] ?? "", style, inputs);
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(part);
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at));
  return parts;
}

function partOf(inner: string, style: VariableStyle, inputs: InputDefaults): ImportPart {
  if (style === "continue" || style === "continue-json") {
    const isPlain = style === "continue-json" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(inner);
    const name = isPlain ? inner : /^(?:secrets|inputs)\.(.+)$/.exec(inner)?.[1];
    return name === undefined ? { unknown: inner } : { input: name, fallback: undefined };
  }
  if (style === "jetbrains") return { folder: inner === "USER_HOME" ? "home" : "project" };
  if (/^(?:workspaceFolder|workspaceRoot|cwd)$/.test(inner)) return { folder: "project" };
  if (inner === "workspaceFolderBasename") return { folder: "project-name" };
  if (inner === "userHome") return { folder: "home" };
  if (inner === "pathSeparator" || inner === "/") return "/";
  const file = /^file:((?:~?[\\/]|[A-Za-z]:).*)$/.exec(inner)?.[1];
  if (file !== undefined) return { file };
  const input = /^input:(.+)$/.exec(inner)?.[1];
  if (input !== undefined) return { input, fallback: inputs.get(input) };
  const [, variable, fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(inner) ?? [];
  return variable === undefined ? { unknown: inner } : { variable, fallback };
}
