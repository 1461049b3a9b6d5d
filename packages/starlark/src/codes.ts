/** Codes of this package's errors and findings, each with its meaning. */
export const starlarkCodes = {
  STARLARK_SYNTAX: "A text is not Starlark.",
  STARLARK_UNFINISHED: "A text ends inside a string, a bracket or a statement; more text could complete it.",
  STARLARK_PYTHON_HABIT: "A text uses what Python or another language has and Starlark writes otherwise.",
  STARLARK_TOO_LARGE:
    "A program is too long, or has too many statements, expressions, captured variables or instructions.",
  STARLARK_TOO_DEEP: "A program is nested too deeply.",
  STARLARK_UNDEFINED_NAME: "A name is used that nothing defines.",
  STARLARK_REASSIGNED: "A name of the top level is bound a second time.",
  STARLARK_MISPLACED: "A statement stands where it may not, such as return outside functions.",
  STARLARK_BAD_TARGET: "What is assigned to is neither a name, an element, a field nor a list of those.",
  STARLARK_BAD_PARAMETERS: "The parameters of a function are out of order or repeat a name.",
  STARLARK_BAD_ARGUMENTS: "The arguments of a call are out of order, repeat a name or are too many.",
  STARLARK_BAD_LOAD: "A load statement asks for what no module exports.",
  STARLARK_NOT_IN_DIALECT: "The dialect in use lacks a feature.",
} as const;

/** A key of `starlarkCodes`. */
export type StarlarkCode = keyof typeof starlarkCodes;
