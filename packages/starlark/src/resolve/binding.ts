/**
 * What a name refers to: the resolver's answer, and the compiler's question.
 */

/** Where a name lives. */
export type BindingKind = "local" | "cell" | "free" | "global" | "predeclared" | "universal";

/**
 * One binding of a name. The same object stands at every use of it within one
 * function, so that a local which an inner function turns out to capture can
 * still become a `cell`.
 */
export interface Binding {
  /**
   * `local` and `cell`: `index` counts in `Scope.locals`; `free`: in `Scope.free`;
   * `global`: in `File.globals`. `predeclared` and `universal` have no index (-1):
   * their name says it.
   */
  kind: BindingKind;
  readonly name: string;
  readonly index: number;
  /** Offset of the name where it is first bound; -1 for predeclared and universal ones. */
  readonly firstStart: number;
}

/** The variables of one function, lambda or file. */
export interface Scope {
  /**
   * Kind `local` or `cell`; parameters first and in the order in which a call
   * fills them: positional ones, keyword-only ones, `*args`, `**kwargs`. Then
   * the rest, each comprehension variable with an index of its own.
   */
  readonly locals: readonly Binding[];
  /**
   * For each variable captured from outside, the binding of the enclosing scope
   * that it captures (a `cell` or a `free` one there), in the order of the
   * indices of this scope's `free` bindings.
   */
  readonly free: readonly Binding[];
}
