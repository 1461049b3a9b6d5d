/**
 * Predeclared values for the suite of go.starlark.net: an object with assignable
 * fields, an infinite iterable, structs, and constructors of branded structs.
 */

import {
  builtin,
  HostObject,
  type NamedArgument,
  nearestSpelling,
  StarlarkError,
  StarlarkList,
  StarlarkStruct,
  type Thread,
  type Value,
  ValueIterator,
} from "@toolcrib/starlark";

/** An object with any field whose name does not start with "no". `list + it` is 42. */
class FieldsObject extends HostObject {
  readonly type = "hasfields";
  readonly #fields = new Map<string, Value>();
  #frozen = false;

  override attribute(name: string): Value | undefined {
    return this.#fields.get(name);
  }

  override attributeNames(): readonly string[] {
    return [...this.#fields.keys()].sort();
  }

  override setAttribute(name: string, value: Value): void {
    if (this.#frozen) throw new StarlarkError("cannot set field on a frozen hasfields");
    if (name.startsWith("no")) {
      const near = nearestSpelling(name, this.attributeNames());
      throw new StarlarkError(`no .${name} field${near === undefined ? "" : ` (did you mean .${near}?)`}`);
    }
    this.#fields.set(name, value);
  }

  override binary(operator: string, other: Value): Value | undefined {
    return operator === "+" && other instanceof StarlarkList ? 42 : undefined;
  }

  override freeze(rest: Value[]): void {
    this.#frozen = true;
    this.references(rest);
  }

  override references(rest: Value[]): void {
    rest.push(...this.#fields.values());
  }

  override repr(): string {
    return "hasfields";
  }
}

/** 0, 1, 1, 2, 3, 5 and so on, without an end and without a length. */
class Fibonacci extends HostObject {
  readonly type = "fib";

  override get hashable(): boolean {
    return false;
  }

  override iterate(): ValueIterator {
    return new FibonacciIterator(this);
  }

  override repr(): string {
    return "fib";
  }
}

class FibonacciIterator extends ValueIterator {
  readonly subject: Value;
  #next = 0;
  #afterNext = 1;

  constructor(subject: Value) {
    super();
    this.subject = subject;
  }

  override next(): Value {
    const value = this.#next;
    this.#next = this.#afterNext;
    this.#afterNext += value;
    return value;
  }
}

/** A symbol that equals only itself. Calling it makes structs with this brand. */
class Brand extends HostObject {
  readonly type = "symbol";
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  override get hashable(): boolean {
    return false;
  }

  override call(_thread: Thread, args: readonly Value[], named: readonly NamedArgument[]): Value {
    if (args.length > 0) throw new StarlarkError(`${this.name}: unexpected positional arguments`);
    return makeStruct(this, named);
  }

  override repr(): string {
    return this.name;
  }
}

function makeStruct(constructorValue: Value, named: readonly NamedArgument[]): StarlarkStruct {
  return new StarlarkStruct(constructorValue, new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** The environment for the suite of go.starlark.net. */
export const starlarkGoEnvironment: ReadonlyMap<string, Value> = new Map<string, Value>([
  [
    "struct",
    builtin("struct(**fields)", "", (_t, _self, args, named) => {
      if (args.length > 0) throw new StarlarkError("struct: unexpected positional arguments");
      return makeStruct("struct", named);
    }),
  ],
  ["hasfields", builtin("hasfields()", "", () => new FieldsObject())],
  ["fibonacci", new Fibonacci()],
  ["gensym", builtin("gensym(name)", "", (_t, _self, name) => new Brand(String(name)))],
]);
