/**
 * Which Starlark: the strict core of the specification, and what may be switched
 * on over it. The options of the first group are those of go.starlark.net; the
 * second group is the tool dialect, in which agents write composite tools.
 */

/** Switches over the strict core; everything that is absent is off. */
export interface Dialect {
  /** The `set` builtin. */
  readonly set?: boolean;
  /** `while` statements. */
  readonly while?: boolean;
  /** `if`, `for` and `while` outside functions. */
  readonly topLevelControl?: boolean;
  /** A global may be bound more than once. */
  readonly globalReassign?: boolean;
  /** `load` binds globals (which are exported) and not names of its file alone. */
  readonly loadBindsGlobally?: boolean;
  /** A function may call itself, directly or not. */
  readonly recursion?: boolean;

  /** `return` outside functions: the value of the program. */
  readonly topLevelReturn?: boolean;
  /** `f"{x}"` strings. */
  readonly fStrings?: boolean;
  /** `x.name` reads a key of a dict where a value is wanted; `x.name(…)` still calls the method. */
  readonly dataAttributes?: boolean;
  /** `try`, `except`, `else` and `finally`. */
  readonly tryExcept?: boolean;
  /** The builtins `attempt`, `parallel`, `parallel_map` and `sum`. */
  readonly toolBuiltins?: boolean;
}

/** Starlark as its specification has it, with no option. */
export const coreDialect: Dialect = {};

/** What agents write composite tools in: the core, every option, and the tool dialect. */
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
