/**
 * Bindings of names: the result of the resolver and the input of the compiler.
 */

/** The kind of place that stores a variable. */
export type BindingKind = "local" | "cell" | "free" | "global" | "predeclared" | "universal";

/**
 * A binding of a name. All uses within one function share the object, so a local can
 * still become a `cell` when an inner function captures it.
 */
export interface Binding {
  /**
   * Index in `Scope.locals` for `local` and `cell`, in `Scope.free` for `free`, and
   * in `File.globals` for `global`. -1 for `predeclared` and `universal`, which are
   * looked up by name.
   */
  kind: BindingKind;
  readonly name: string;
  readonly index: number;
  /** Offset of the first binding of the name; -1 for predeclared and universal names. */
  readonly firstStart: number;
}

/** The variables of one function, lambda or file. */
export interface Scope {
  /**
   * Bindings of kind `local` or `cell`. Parameters come first, in the order in which
   * a call fills them: positional, keyword-only, `*args`, `**kwargs`. Each
   * comprehension variable has its own index.
   */
  readonly locals: readonly Binding[];
  /**
   * For each captured variable, the binding in the enclosing scope (a `cell` or a
   * `free` one), in the order of this scope's `free` bindings.
   */
  readonly free: readonly Binding[];
}
