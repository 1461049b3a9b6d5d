/**
 * Functions and methods written in TypeScript. Each is declared by its signature
 * as text, which the binder, the documentation and the hints all read:
 *
 *     len(x, /)                      one positional argument
 *     split(sep?, maxsplit?)         two optional ones, by position or by name
 *     print(*args, sep?)             any number: the implementation gets them as they came
 *
 * `?` marks an optional parameter, which arrives as `undefined` when it is not
 * given. After `/` a signature may go on; what stands before is positional only.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { type Deferred, type NamedArgument, SharedObject, type Value } from "../value/value.ts";

/**
 * What a builtin does: `self` is the receiver of a method and `null` of a
 * function; then its parameters in order. Declared as a method so that an
 * implementation may name narrower types for what `self` is known to be.
 */
export type Implementation = {
  call(thread: Thread, self: Value, ...parameters: Value[]): Value | Deferred;
}["call"];

/** What a variadic builtin does; it binds its arguments itself. */
export type VariadicImplementation = {
  call(
    thread: Thread,
    self: Value,
    args: readonly Value[],
    named: readonly NamedArgument[],
  ): Value | Deferred;
}["call"];

/** How a builtin may be declared. */
export interface BuiltinOptions {
  /** Whether the result may be `Deferred`: it calls functions of the program, or waits. @default false */
  readonly defers?: boolean;
}

/** A builtin function, or a method that is not bound to a receiver yet. */
export class Builtin extends SharedObject {
  get type(): "builtin_function_or_method" {
    return "builtin_function_or_method";
  }
  readonly name: string;
  /** As declared, such as `split(sep?, maxsplit?)`. */
  readonly signature: string;
  /** One sentence or more of what it does, in Markdown. */
  readonly doc: string;
  readonly defers: boolean;
  /** Names of the parameters; empty when variadic. */
  readonly parameters: readonly string[];
  /** How many parameters must be given. */
  readonly required: number;
  /** How many of the first cannot be given by name. */
  readonly positionalOnly: number;
  /** Set when the signature has `*`: it takes arguments as they came. */
  readonly variadic: VariadicImplementation | undefined;
  /** Takes `(thread, self, ...parameters)`. */
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

/** A method with its receiver: what `x.append` is. */
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

/** What a signature asks for: one with `*` takes its arguments as they came. */
type ImplementationOf<Signature extends string> = Signature extends `${string}*${string}`
  ? VariadicImplementation
  : Implementation;

/** A function of the universe or of a module. See `Builtin`. */
export function builtin<Signature extends string>(
  signature: Signature,
  doc: string,
  implementation: ImplementationOf<Signature>,
  options?: BuiltinOptions,
): Builtin {
  return new Builtin(signature, doc, implementation, options);
}
