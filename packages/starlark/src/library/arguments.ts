/**
 * Checks of the arguments of builtins. Each function returns the argument as the
 * required type, or throws an error that names the builtin, the parameter, the actual
 * and the required type, in the wording of go.starlark.net.
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

/** An int that is a safe integer; a larger one is out of range. */
export function wantSafeInt(builtin: string, parameter: string | number, value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value !== "bigint") throw wrongType(builtin, parameter, value, "int");
  throw new StarlarkError(`${builtin}: for parameter ${parameter}: ${value} out of range`);
}

/** A float, or an int converted to one. */
export function wantFloat(builtin: string, parameter: string | number, value: Value): number {
  if (value instanceof StarlarkFloat) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  throw wrongType(builtin, parameter, value, "float or int");
}

/** A value that `iterate` accepts. */
export function wantIterable(builtin: string, parameter: string | number, value: Value): Value {
  if (isIterable(value)) return value;
  throw wrongType(builtin, parameter, value, "iterable");
}

/** A callable value: a function, a builtin, a method or a callable host object. */
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
 * The named arguments of a variadic builtin.
 *
 * @returns the values for `allowed`, in its order; `undefined` for absent ones.
 * @throws {StarlarkError} for another name, and for a repeated one.
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
