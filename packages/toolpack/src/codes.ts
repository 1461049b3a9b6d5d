/** Codes of this package's errors and findings, each with its meaning. */
export const toolpackCodes = {
  TOOLPACK_TOOL_UNKNOWN: "A toolspec has no tool with a name that was asked for.",
  TOOLPACK_PATH_INVALID: "A JSONPath of a toolspec cannot be read, or uses what has no bounds.",
  TOOLPACK_PATH_TOO_COSTLY: "A JSONPath took more steps on a response than are allowed.",
} as const;

/** A key of `toolpackCodes`. */
export type ToolpackCode = keyof typeof toolpackCodes;
