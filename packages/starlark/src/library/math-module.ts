/**
 * The module `math`: functions of floats. All functions also accept ints. They return
 * floats, except for `ceil` and `floor`, which return ints.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import { makeFloat, truncateToInt } from "../value/number.ts";
import { typeOf } from "../value/type-of.ts";
import { StarlarkFloat, StarlarkModule, type Value } from "../value/value.ts";
import { wantFloat } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { gamma } from "./math-gamma.ts";
import { prefixError } from "./prefix-error.ts";

function unary(name: string, doc: string, compute: (x: number) => number): Builtin {
  return builtin(`${name}(x, /)`, doc, (thread, _self, x) =>
    makeFloat(compute(wantFloat(name, 1, x)), thread),
  );
}

function binary(
  name: string,
  parameters: string,
  doc: string,
  compute: (x: number, y: number) => number,
): Builtin {
  return builtin(`${name}(${parameters}, /)`, doc, (thread, _self, x, y) =>
    makeFloat(compute(wantFloat(name, 1, x), wantFloat(name, 2, y)), thread),
  );
}

/** `ceil` and `floor`: an int of any size. */
function rounding(name: string, doc: string, compute: (x: number) => number): Builtin {
  return builtin(`${name}(x, /)`, doc, (_thread, _self, x) => {
    if (typeof x === "number" || typeof x === "bigint") return x;
    if (!(x instanceof StarlarkFloat)) {
      throw new StarlarkError(`${name}: got ${typeOf(x)}, want float or int`);
    }
    try {
      return truncateToInt(compute(x.value));
    } catch (error) {
      throw prefixError(name, error);
    }
  });
}

/** The magnitude of `x` with the sign of `y`; NaN counts as positive. */
function copysign(x: number, y: number): number {
  return Math.abs(x) * (y < 0 || Object.is(y, -0) ? -1 : 1);
}

/** `x` to the power of `y` as in C: 1 to any power is 1, and so is -1 to an infinite power. */
function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && Math.abs(y) === Number.POSITIVE_INFINITY)) return 1;
  return x ** y;
}

/** `x - n * y` for the integer n nearest to x / y, and the even one on a tie. Exact. */
function remainder(x: number, y: number): number {
  if (Math.abs(y) === Number.POSITIVE_INFINITY) return Number.isFinite(x) ? x : Number.NaN;
  const divisor = Math.abs(y);
  const magnitude = Math.abs(x);
  const rest = magnitude % divisor;
  const toNext = divisor - rest;
  // On a tie, the even multiple is nearer. Test whether the lower one is odd.
  const below = rest < toNext || (rest === toNext && magnitude % (2 * divisor) === rest);
  return copysign(1, x) * (below ? rest : -toNext);
}

/** The nearest integer, halves away from zero. */
function round(x: number): number {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
}

const functions: readonly Builtin[] = [
  rounding(
    "ceil",
    "The smallest int that is not below `x`; an error for infinities and NaN. `math.ceil(1.2)` gives `2`",
    Math.ceil,
  ),
  rounding(
    "floor",
    "The largest int that is not above `x`; an error for infinities and NaN. `math.floor(-1.2)` gives `-2`",
    Math.floor,
  ),
  unary(
    "round",
    "The integer nearest to `x`, as a float; halves are rounded away from zero. `math.round(2.5)` gives `3.0`",
    round,
  ),
  unary("fabs", "The absolute value of `x`, as a float. `math.fabs(-3)` gives `3.0`", Math.abs),
  binary(
    "copysign",
    "x, y",
    "A float with the magnitude of `x` and the sign of `y`. `math.copysign(3.5, -1)` gives `-3.5`",
    copysign,
  ),
  binary(
    "mod",
    "x, y",
    "The remainder of `x / y` with the sign of `x`; the operator `%` takes the sign of `y`. `math.mod(-7, 3)` gives `-1.0`",
    (x, y) => x % y,
  ),
  binary(
    "remainder",
    "x, y",
    "The IEEE 754 remainder: the difference of `x` and the nearest multiple of `y`, between `-y / 2` and `y / 2`. `math.remainder(7, 4)` gives `-1.0`",
    remainder,
  ),
  binary("pow", "x, y", "`x` to the power of `y`, as a float. `math.pow(2, 10)` gives `1024.0`", power),
  unary("exp", "e to the power of `x`. `math.exp(0)` gives `1.0`", Math.exp),
  unary("sqrt", "The square root of `x`; NaN if `x` is negative. `math.sqrt(9)` gives `3.0`", Math.sqrt),
  builtin(
    "log(x, base?, /)",
    "The logarithm of `x` in the given base, the natural logarithm by default. `math.log(8, 2)` gives `3.0`",
    (thread, _self, x, base) => {
      const argument = wantFloat("log", 1, x);
      if (base === undefined) return makeFloat(Math.log(argument), thread);
      const divisor = Math.log(wantFloat("log", 2, base));
      if (divisor === 0) throw new StarlarkError("log: division by zero");
      return makeFloat(Math.log(argument) / divisor, thread);
    },
  ),
  binary(
    "hypot",
    "x, y",
    "The length of the vector from the origin to the point (x, y). `math.hypot(3, 4)` gives `5.0`",
    Math.hypot,
  ),
  unary("gamma", "The gamma function of `x`. `math.gamma(5)` gives `24.0`", gamma),
  unary(
    "degrees",
    "An angle in radians as degrees. `math.degrees(math.pi)` gives `180.0`",
    (x) => (360 * x) / (2 * Math.PI),
  ),
  unary(
    "radians",
    "An angle in degrees as radians. `math.radians(0)` gives `0.0`",
    (x) => (2 * Math.PI * x) / 360,
  ),
  unary("sin", "The sine of an angle in radians. `math.sin(0)` gives `0.0`", Math.sin),
  unary("cos", "The cosine of an angle in radians. `math.cos(0)` gives `1.0`", Math.cos),
  unary("tan", "The tangent of an angle in radians. `math.tan(0)` gives `0.0`", Math.tan),
  unary("asin", "The arc sine of `x`, in radians. `math.asin(0)` gives `0.0`", Math.asin),
  unary("acos", "The arc cosine of `x`, in radians. `math.acos(1)` gives `0.0`", Math.acos),
  unary("atan", "The arc tangent of `x`, in radians. `math.atan(0)` gives `0.0`", Math.atan),
  binary(
    "atan2",
    "y, x",
    "The angle between the positive x axis and the point (x, y), in radians, from -pi to pi. `math.atan2(0, 1)` gives `0.0`",
    Math.atan2,
  ),
  unary("sinh", "The hyperbolic sine of `x`. `math.sinh(0)` gives `0.0`", Math.sinh),
  unary("cosh", "The hyperbolic cosine of `x`. `math.cosh(0)` gives `1.0`", Math.cosh),
  unary("tanh", "The hyperbolic tangent of `x`. `math.tanh(0)` gives `0.0`", Math.tanh),
  unary("asinh", "The inverse hyperbolic sine of `x`. `math.asinh(0)` gives `0.0`", Math.asinh),
  unary("acosh", "The inverse hyperbolic cosine of `x`. `math.acosh(1)` gives `0.0`", Math.acosh),
  unary("atanh", "The inverse hyperbolic tangent of `x`. `math.atanh(0)` gives `0.0`", Math.atanh),
];

/** The module `math`. */
export const mathModule = new StarlarkModule(
  "math",
  new Map<string, Value>([
    ...functions.map((each): [string, Value] => [each.name, each]),
    ["e", new StarlarkFloat(Math.E)],
    ["pi", new StarlarkFloat(Math.PI)],
  ]),
);
