/** The names, descriptions and schemas of tools that each API for tools of models accepts. Data only. */

/** The forms in which tools are exported. */
export type ExportFormat = "mcp" | "openai" | "anthropic" | "gemini";

/** Rules of an API. */
export interface RuntimeRules {
  /** One character that names do not have. */
  readonly otherCharacter: RegExp;
  /** Whether a name must begin with a letter or `_`. */
  readonly startsWithLetter: boolean;
  readonly nameMaxLength: number;
  /** Longest description in UTF-16 units. */
  readonly descriptionMaxLength: number;
  /** Keywords that the top of a schema must not have. */
  readonly notAtTop: readonly string[];
}

/**
 * The rules by format.
 *
 * - MCP 2025-11-25, Tools, "Tool Names": 1 to 128 characters `A-Z a-z 0-9 _ - .`; here at most 64, as the names of the
 *   gateway.
 * - OpenAI, "Function calling": `^[a-zA-Z0-9_-]{1,64}$`, descriptions up to 1,024 characters; the top of `parameters` is an
 *   object without `oneOf`, `anyOf`, `allOf`, `enum` and `not`.
 * - Anthropic, "Tool use": `^[a-zA-Z0-9_-]{1,128}$`, earlier 64; the top of `input_schema` has no `oneOf`, `anyOf` and `allOf`.
 * - Gemini, `FunctionDeclaration`: letters, digits, `_`, `.` and `-`, at most 64 (earlier 63, and without dots), and the first
 *   is a letter or `_`; `parameters` is a subset of a Schema Object of OpenAPI 3.0.
 */
export const runtimeRules: { readonly [format in ExportFormat]: RuntimeRules } = {
  mcp: {
    otherCharacter: /[^A-Za-z0-9_.-]/g,
    startsWithLetter: false,
    nameMaxLength: 64,
    descriptionMaxLength: 16_384,
    notAtTop: [],
  },
  openai: {
    otherCharacter: /[^A-Za-z0-9_-]/g,
    startsWithLetter: false,
    nameMaxLength: 64,
    descriptionMaxLength: 1024,
    notAtTop: ["oneOf", "anyOf", "allOf", "enum", "not", "const"],
  },
  anthropic: {
    otherCharacter: /[^A-Za-z0-9_-]/g,
    startsWithLetter: false,
    nameMaxLength: 64,
    descriptionMaxLength: 16_384,
    notAtTop: ["oneOf", "anyOf", "allOf"],
  },
  gemini: {
    otherCharacter: /[^A-Za-z0-9_-]/g,
    startsWithLetter: true,
    nameMaxLength: 63,
    descriptionMaxLength: 16_384,
    notAtTop: [],
  },
};
