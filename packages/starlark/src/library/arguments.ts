/**
 * What builtins ask of their arguments. Each function returns the argument as the
 * type it has to be, or throws an error that names the builtin, the parameter,
 * what it got and what it wants, as go.starlark.net words it.
 */

import { nearestSpelling } from "../resolve/spelling.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import { FunctionValue } from "../value/function-value.ts";
import { isIterable } from "../value/iterate.ts";
import { typeOf } from "../value/type-of.ts";
import { HostObject, type NamedArgument, StarlarkFloat, type Value } from "../value/value.ts";
import { BoundMethod, Builtin } from "./builtin.ts";

/** `"<builtin>: for parameter <parameter>: got <type>, want <wanted>"`. */
export function wrongType(
  builtin: string,
  parameter: string | number,
  value: Value,
  wanted: string,
): StarlarkError {
  return new StarlarkError(`${builtin}: for parameter ${parameter}: got ${typeOf(value)}, want ${wanted}`);
}

export function wantString(builtin: string, parameter: string | number, value: Value): string {
  if (typeof value === "string") return value;
  throw wrongType(builtin, parameter, value, "string");
}

export function wantBool(builtin: string, parameter: string | number, value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw wrongType(builtin, parameter, value, "bool");
}

/** An int of any size. */
export function wantInt(builtin: string, parameter: string | number, value: Value): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw wrongType(builtin, parameter, value, "int");
}

/** An int that is a safe integer; a bigger one is out of range. */
export function wantSafeInt(builtin: string, parameter: string | number, value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value !== "bigint") throw wrongType(builtin, parameter, value, "int");
  throw new StarlarkError(`${builtin}: for parameter ${parameter}: ${value} out of range`);
}

/** A float, or an int as one. */
export function wantFloat(builtin: string, parameter: string | number, value: Value): number {
  if (value instanceof StarlarkFloat) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  throw wrongType(builtin, parameter, value, "float or int");
}

/** What `iterate` takes. */
export function wantIterable(builtin: string, parameter: string | number, value: Value): Value {
  if (isIterable(value)) return value;
  throw wrongType(builtin, parameter, value, "iterable");
}

/** What can be called: a function, a builtin, a method or such an object of the host. */
export function wantCallable(builtin: string, parameter: string | number, value: Value): Value {
  if (
    value instanceof FunctionValue ||
    value instanceof Builtin ||
    value instanceof BoundMethod ||
    (value instanceof HostObject && value.call !== undefined)
  ) {
    return value;
  }
  throw wrongType(builtin, parameter, value, "callable");
}

/**
 * The arguments of a variadic builtin that come by name.
 *
 * @returns the values of `allowed`, in its order; `undefined` where one is absent.
 * @throws {StarlarkError} for any other name, and for one that is given twice.
 */
export function takeNamed(
  builtin: string,
  named: readonly NamedArgument[],
  allowed: readonly string[],
): (Value | undefined)[] {
  const values: (Value | undefined)[] = allowed.map(() => undefined);
  for (const [name, value] of named) {
    const index = allowed.indexOf(name);
    if (index === -1) {
      const near = nearestSpelling(name, allowed);
      const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
      throw new StarlarkError(`${builtin}: unexpected keyword argument ${name}${hint}`);
    }
    if (values[index] !== undefined) {
      throw new StarlarkError(`${builtin}: got multiple values for keyword argument ${name}`);
    }
    values[index] = value;
  }
  return values;
}
