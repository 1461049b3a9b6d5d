/** A text is not Starlark. */
export const starlarkSyntax = "STARLARK_SYNTAX";
/** A text ends inside a string, a bracket or a statement; more text could complete it. */
export const starlarkUnfinished = "STARLARK_UNFINISHED";
/** A text uses what Python or another language has and Starlark writes otherwise. */
export const starlarkPythonHabit = "STARLARK_PYTHON_HABIT";
/** A text is longer than what the parser reads. */
export const starlarkTooLarge = "STARLARK_TOO_LARGE";
/** A text nests deeper than what the parser follows. */
export const starlarkTooDeep = "STARLARK_TOO_DEEP";
/** A name is used that nothing defines. */
export const starlarkUndefinedName = "STARLARK_UNDEFINED_NAME";
/** A name of the top level is bound a second time. */
export const starlarkReassigned = "STARLARK_REASSIGNED";
/** A statement stands where it may not, such as return outside functions. */
export const starlarkMisplaced = "STARLARK_MISPLACED";
/** What is assigned to is neither a name, an element, a field nor a list of those. */
export const starlarkBadTarget = "STARLARK_BAD_TARGET";
/** The parameters of a function are out of order or repeat a name. */
export const starlarkBadParameters = "STARLARK_BAD_PARAMETERS";
/** The arguments of a call are out of order, repeat a name or are too many. */
export const starlarkBadArguments = "STARLARK_BAD_ARGUMENTS";
/** A load statement asks for what no module exports. */
export const starlarkBadLoad = "STARLARK_BAD_LOAD";
/** The dialect in use lacks a feature. */
export const starlarkNotInDialect = "STARLARK_NOT_IN_DIALECT";
