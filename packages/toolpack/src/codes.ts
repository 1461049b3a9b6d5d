/** Codes of this package's errors and findings, each with its meaning. */
export const toolpackCodes = {
  TOOLPACK_TOOL_UNKNOWN: "A toolspec has no tool with the requested name.",
  TOOLPACK_PATH_INVALID: "A JSONPath of a toolspec is not valid, or uses a function without bounds.",
  TOOLPACK_PATH_TOO_COSTLY: "The JSONPaths of a tool take more steps on a response than the limit allows.",
} as const;

/** A key of `toolpackCodes`. */
export type ToolpackCode = keyof typeof toolpackCodes;
