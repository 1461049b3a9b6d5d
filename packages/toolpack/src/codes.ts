/** A toolspec has no tool with a name that was asked for. */
export const toolpackToolUnknown = "TOOLPACK_TOOL_UNKNOWN";
/** A JSONPath of a toolspec cannot be read, or uses what has no bounds. */
export const toolpackPathInvalid = "TOOLPACK_PATH_INVALID";
/** A JSONPath took more steps on a response than are allowed. */
export const toolpackPathTooCostly = "TOOLPACK_PATH_TOO_COSTLY";
