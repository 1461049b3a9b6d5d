/**
 * Functions and methods that are written in TypeScript. Each one is declared by its
 * signature as text, which the argument binder, the documentation and the hints use:
 *
 *     len(x, /)                      one positional argument
 *     split(sep?, maxsplit?)         two optional ones, by position or by name
 *     print(*args, sep?)             any number: the implementation receives them unchanged
 *
 * `?` marks an optional parameter, which is `undefined` if it is absent. Parameters
 * before `/` are positional only.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { type Deferred, type NamedArgument, SharedObject, type Value } from "../value/value.ts";

/**
 * The implementation of a builtin: `self` is the receiver of a method, and `null` for
 * a function; its parameters follow in order. Declared as a method so that an
 * implementation can use narrower types for `self`.
 */
export type Implementation = {
  call(thread: Thread, self: Value, ...parameters: Value[]): Value | Deferred;
}["call"];

/** The implementation of a variadic builtin, which binds its arguments itself. */
export type VariadicImplementation = {
  call(
    thread: Thread,
    self: Value,
    args: readonly Value[],
    named: readonly NamedArgument[],
  ): Value | Deferred;
}["call"];

/** Options of a builtin. */
export interface BuiltinOptions {
  /**
   * Whether the result may be `Deferred`, because the builtin calls functions of the
   * program or waits. @default false
   */
  readonly defers?: boolean;
  /**
   * Whether a call has an effect other than its result. The compiler then gives the call
   * an instruction of its own, so that no operation after it can repeat it. @default false
   */
  readonly hasEffect?: boolean;
}

/** A builtin function, or a method that is not bound to a receiver. */
export class Builtin extends SharedObject {
  get type(): "builtin_function_or_method" {
    return "builtin_function_or_method";
  }
  readonly name: string;
  /** The declared signature, such as `split(sep?, maxsplit?)`. */
  readonly signature: string;
  /** A description of one or more sentences, in Markdown. */
  readonly doc: string;
  readonly defers: boolean;
  readonly hasEffect: boolean;
  /** Names of the parameters; empty for a variadic builtin. */
  readonly parameters: readonly string[];
  /** Number of required parameters. */
  readonly required: number;
  /** Number of leading parameters that cannot be passed by name. */
  readonly positionalOnly: number;
  /** Set if the signature has `*`: the implementation receives the arguments unchanged. */
  readonly variadic: VariadicImplementation | undefined;
  /** Called with `(thread, self, ...parameters)`. */
  readonly invoke: Implementation;

  constructor(
    signature: string,
    doc: string,
    implementation: Implementation | VariadicImplementation,
    options: BuiltinOptions = {},
  ) {
    super();
    const open = signature.indexOf("(");
    const words = signature
      .slice(open + 1, -1)
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
    this.name = signature.slice(0, open);
    this.signature = signature;
    this.doc = doc;
    this.defers = options.defers ?? false;
    this.hasEffect = options.hasEffect ?? false;
    this.positionalOnly = Math.max(0, words.indexOf("/"));
    const parameters = words.filter((word) => word !== "/");
    if (parameters.some((word) => word.startsWith("*"))) {
      this.variadic = implementation as VariadicImplementation;
      this.invoke = refuse;
      this.parameters = [];
      this.required = 0;
    } else {
      this.variadic = undefined;
      this.invoke = implementation as Implementation;
      this.parameters = parameters.map((word) => word.replace("?", ""));
      this.required = parameters.filter((word) => !word.endsWith("?")).length;
    }
  }
}

function refuse(): never {
  throw new StarlarkError("variadic builtin called with bound parameters");
}

/** A method bound to its receiver: the value of `x.append`. */
export class BoundMethod extends SharedObject {
  get type(): "builtin_function_or_method" {
    return "builtin_function_or_method";
  }
  readonly receiver: Value;
  readonly method: Builtin;

  constructor(receiver: Value, method: Builtin) {
    super();
    this.receiver = receiver;
    this.method = method;
  }

  override references(rest: Value[]): void {
    rest.push(this.receiver);
  }
}

/** The implementation that a signature requires: a variadic one if it has `*`. */
type ImplementationOf<Signature extends string> = Signature extends `${string}*${string}`
  ? VariadicImplementation
  : Implementation;

/** Creates a function of the universe or of a module. See `Builtin`. */
export function builtin<Signature extends string>(
  signature: Signature,
  doc: string,
  implementation: ImplementationOf<Signature>,
  options?: BuiltinOptions,
): Builtin {
  return new Builtin(signature, doc, implementation, options);
}
