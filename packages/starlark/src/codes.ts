/** Codes of the findings of this package, with their meanings. */
export const starlarkCodes = {
  STARLARK_SYNTAX: "The text is not valid Starlark.",
  STARLARK_UNFINISHED:
    "The text ends within a string, a bracket or a statement, which more text could complete.",
  STARLARK_PYTHON_HABIT:
    "The program uses syntax or a name of Python or another language that Starlark does not have.",
  STARLARK_TOO_LARGE:
    "The program is too long, or has too many statements, expressions, captured variables or instructions.",
  STARLARK_TOO_DEEP: "The program is nested too deeply.",
  STARLARK_UNDEFINED_NAME: "The program uses a name that is not defined.",
  STARLARK_REASSIGNED: "A global is bound more than once.",
  STARLARK_MISPLACED: "A statement is not allowed at this place, such as return outside functions.",
  STARLARK_BAD_TARGET: "The target of an assignment is not a name, an element, a field or a list of these.",
  STARLARK_BAD_PARAMETERS: "The parameters of a function are in the wrong order, or repeat a name.",
  STARLARK_BAD_ARGUMENTS: "The arguments of a call are in the wrong order, repeat a name or are too many.",
  STARLARK_BAD_LOAD: "A load statement names something that no module can export.",
  STARLARK_NOT_IN_DIALECT: "The program uses a feature that its dialect does not have.",
} as const;

/** A key of `starlarkCodes`. */
export type StarlarkCode = keyof typeof starlarkCodes;
