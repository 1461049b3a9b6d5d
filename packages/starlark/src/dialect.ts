/**
 * Dialects of Starlark: the strict core of the specification, and options that extend
 * it. The first group has the options of go.starlark.net. The second group is the
 * tool dialect, in which agents write composite tools.
 */

/** Options that extend the strict core. Absent options are off. */
export interface Dialect {
  /** The `set` builtin. */
  readonly set?: boolean;
  /** `while` statements. */
  readonly while?: boolean;
  /** `if`, `for` and `while` outside functions. */
  readonly topLevelControl?: boolean;
  /** A global can be bound more than once. */
  readonly globalReassign?: boolean;
  /** `load` binds globals, which are exported, instead of names of the file. */
  readonly loadBindsGlobally?: boolean;
  /** A function can call itself, directly or indirectly. */
  readonly recursion?: boolean;

  /** `return` outside functions, which sets the value of the program. */
  readonly topLevelReturn?: boolean;
  /** `f"{x}"` strings. */
  readonly fStrings?: boolean;
  /** `x.name` reads a key of a dict, except in calls: `x.name(…)` still calls the method. */
  readonly dataAttributes?: boolean;
  /** `try`, `except`, `else` and `finally`. */
  readonly tryExcept?: boolean;
  /** The builtins `attempt`, `parallel`, `parallel_map` and `sum`. */
  readonly toolBuiltins?: boolean;
}

/** The Starlark specification, without any option. */
export const coreDialect: Dialect = {};

/** The dialect of composite tools: the core, every option, and the tool dialect. */
export const toolDialect: Dialect = {
  set: true,
  while: true,
  topLevelControl: true,
  globalReassign: true,
  recursion: true,
  topLevelReturn: true,
  fStrings: true,
  dataAttributes: true,
  tryExcept: true,
  toolBuiltins: true,
};
