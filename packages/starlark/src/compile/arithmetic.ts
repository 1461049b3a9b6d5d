/**
 * Operators as closures. Each closure tests first for two safe integers, the most
 * common operands, and otherwise calls `value/operators.ts`. Operands in registers
 * and constants are read in place, without a call of their closures. The forms are
 * written out one by one, because the JavaScript engine optimizes each function
 * separately.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import type { ArithmeticOperator, ComparisonOperator } from "../syntax/ast.ts";
import { equals } from "../value/equality.ts";
import { bitwise, isInt, makeFloat, shiftLeft, shiftRight } from "../value/number.ts";
import { binary, contains } from "../value/operators.ts";
import { isOrdered, type OrderOperator } from "../value/order.ts";
import { StarlarkFloat, type Value } from "../value/value.ts";
import type { Evaluator, Instruction, Test } from "./code.ts";

const most = Number.MAX_SAFE_INTEGER;
const least = Number.MIN_SAFE_INTEGER;

/** An operand: its evaluator, and facts that are known when the program is compiled. */
export interface Operand {
  readonly evaluate: Evaluator;
  /** The register that is certain to hold the operand when it is read; 0 if it must be evaluated. */
  readonly register: number;
  /** The value of a literal. */
  readonly constant?: Value;
  /** The index of a global, which may be unassigned. */
  readonly global?: number;
}

/** An operand of which only the evaluator is known. */
export function evaluated(evaluate: Evaluator): Operand {
  return { evaluate, register: 0 };
}

/** Returns the error for a variable that is read before it is assigned. */
export function unassigned(kind: "local" | "global", name: string, at: number, t: Thread): StarlarkError {
  t.at = at;
  return new StarlarkError(`${kind} variable ${name} referenced before assignment`);
}

/** `left <operator> right`; `at` is the offset of the operator. */
export function arithmeticEvaluator(
  operator: ArithmeticOperator,
  left: Operand,
  right: Operand,
  at: number,
): Evaluator {
  switch (operator) {
    case "+":
      return addition(left, right, at);
    case "-":
      return subtraction(left, right, at);
    case "*":
      return multiplication(left, right, at);
    case "%":
      return modulo(left, right, at);
    case "//":
      return floorDivision(left, right, at);
    case "/":
      return division(left, right, at);
    case "&":
    case "|":
    case "^":
      return bitwiseEvaluator(operator, left, right, at);
    default:
      return shift(operator, left, right, at);
  }
}

function shift(operator: "<<" | ">>", left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  return (r, t) => {
    const x = a(r, t);
    const y = b(r, t);
    t.at = at;
    if (!isInt(x) || !isInt(y)) return binary(operator, x, y, t);
    return operator === "<<" ? shiftLeft(x, y, t) : shiftRight(x, y, t);
  };
}

/** Handles operands that are not two safe integers with a safe result. */
function slow(operator: ArithmeticOperator, x: Value, y: Value, at: number, t: Thread): Value {
  t.at = at;
  return binary(operator, x, y, t);
}

/** `x + y`, unless both are safe integers with a safe sum. */
export function addSlow(x: Value, y: Value, at: number, t: Thread): Value {
  if (x instanceof StarlarkFloat && y instanceof StarlarkFloat) return makeFloat(x.value + y.value, t);
  if (typeof x === "string" && typeof y === "string") {
    t.at = at;
    t.charge(24 + x.length + y.length);
    return x + y;
  }
  return slow("+", x, y, at, t);
}

function addition(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  if (typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number") {
        const sum = x + c;
        if (sum <= most && sum >= least) return sum;
      }
      return addSlow(x, c, at, t);
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number") {
      const sum = x + y;
      if (sum <= most && sum >= least) return sum;
    }
    return addSlow(x, y, at, t);
  };
}

/** Stores `left + right` in a register, as one instruction: the most frequent operation in loops. */
export function additionInstruction(
  left: Operand,
  right: Operand,
  at: number,
  register: number,
  next: number,
): Instruction {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  if (typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number") {
        const sum = x + c;
        if (sum <= most && sum >= least) {
          r[register] = sum;
          return next;
        }
      }
      r[register] = addSlow(x, c, at, t);
      return next;
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number") {
      const sum = x + y;
      if (sum <= most && sum >= least) {
        r[register] = sum;
        return next;
      }
    }
    r[register] = addSlow(x, y, at, t);
    return next;
  };
}

function subtractSlow(x: Value, y: Value, at: number, t: Thread): Value {
  if (x instanceof StarlarkFloat && y instanceof StarlarkFloat) return makeFloat(x.value - y.value, t);
  return slow("-", x, y, at, t);
}

function subtraction(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  if (typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number") {
        const difference = x - c;
        if (difference <= most && difference >= least) return difference;
      }
      return subtractSlow(x, c, at, t);
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number") {
      const difference = x - y;
      if (difference <= most && difference >= least) return difference;
    }
    return subtractSlow(x, y, at, t);
  };
}

function multiplySlow(x: Value, y: Value, at: number, t: Thread): Value {
  if (x instanceof StarlarkFloat && y instanceof StarlarkFloat) return makeFloat(x.value * y.value, t);
  return slow("*", x, y, at, t);
}

function multiplication(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = left.constant;
  if (typeof c === "number") {
    return (r, t) => {
      const y = j === 0 ? b(r, t) : (r[j] as Value);
      if (typeof y === "number") {
        const product = c * y;
        if (product <= most && product >= least) return product + 0;
      }
      return multiplySlow(c, y, at, t);
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number") {
      const product = x * y;
      // `+ 0` turns -0 into 0.
      if (product <= most && product >= least) return product + 0;
    }
    return multiplySlow(x, y, at, t);
  };
}

function modulo(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  if (typeof c === "number" && c > 0) {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number" && x >= 0) return x % c;
      return slow("%", x, c, at, t);
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number" && x >= 0 && y > 0) return x % y;
    return slow("%", x, y, at, t);
  };
}

function floorDivision(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const i = left.register;
  const c = right.constant;
  if (typeof c === "number" && c > 0) {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number" && x >= 0) return (x - (x % c)) / c;
      return slow("//", x, c, at, t);
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = b(r, t);
    if (typeof x === "number" && typeof y === "number" && x >= 0 && y > 0) return (x - (x % y)) / y;
    return slow("//", x, y, at, t);
  };
}

function division(left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (x instanceof StarlarkFloat && y instanceof StarlarkFloat && y.value !== 0) {
      return makeFloat(x.value / y.value, t);
    }
    if (typeof x === "number" && typeof y === "number" && y !== 0) return makeFloat(x / y, t);
    return slow("/", x, y, at, t);
  };
}

function bitwiseEvaluator(operator: "&" | "|" | "^", left: Operand, right: Operand, at: number): Evaluator {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" && typeof y === "number") {
      if ((x | 0) !== x || (y | 0) !== y) return bitwise(operator, x, y, t);
      return operator === "&" ? x & y : operator === "|" ? x | y : x ^ y;
    }
    return slow(operator, x, y, at, t);
  };
}

/** `left <operator> right`, for the operators of comparison and membership. */
export function comparisonTest(
  operator: ComparisonOperator | "in" | "not in",
  left: Operand,
  right: Operand,
  at: number,
): Test {
  switch (operator) {
    case "==":
      return equality(left, right, true, at);
    case "!=":
      return equality(left, right, false, at);
    case "in":
      return membership(left, right, true, at);
    case "not in":
      return membership(left, right, false, at);
    default:
      return order(operator, left, right, at);
  }
}

/** Comparing strings of at least this length counts as steps. */
const longString = 256;

/** Tests whether `left == right` equals `wanted`. */
function equality(left: Operand, right: Operand, wanted: boolean, at: number): Test {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  if (typeof c === "string" || c === null || typeof c === "boolean") {
    // No other value equals one of these.
    return (r, t) => ((i === 0 ? a(r, t) : r[i]) === c) === wanted;
  }
  if (typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number") return (x === c) === wanted;
      t.at = at;
      return equals(x, c, t) === wanted;
    };
  }
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (typeof x === "number" || typeof y === "boolean") {
      if (typeof y !== "object") return (x === y) === wanted;
    } else if (typeof x === "string" && typeof y === "string" && x.length < longString) {
      return (x === y) === wanted;
    }
    t.at = at;
    return equals(x, y, t) === wanted;
  };
}

/** Tests whether `left in right` equals `wanted`. */
function membership(left: Operand, right: Operand, wanted: boolean, at: number): Test {
  const [a, b] = [left.evaluate, right.evaluate];
  return (r, t) => {
    const x = a(r, t);
    const y = b(r, t);
    t.at = at;
    return contains(x, y, t) === wanted;
  };
}

/** Compares and branches. The most frequent comparisons are a single instruction. */
export function comparisonBranch(
  operator: ComparisonOperator | "in" | "not in",
  left: Operand,
  right: Operand,
  at: number,
  whenTrue: number,
  whenFalse: number,
): Instruction {
  const a = left.evaluate;
  const i = left.register;
  const c = right.constant;
  if (operator === "==" && typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (typeof x === "number") return x === c ? whenTrue : whenFalse;
      t.at = at;
      return equals(x, c, t) ? whenTrue : whenFalse;
    };
  }
  if (operator === "<" && typeof c === "number") {
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      const holds = typeof x === "number" ? x < c : orderSlow("<", x, c, at, t);
      return holds ? whenTrue : whenFalse;
    };
  }
  const holds = comparisonTest(operator, left, right, at);
  return (r, t) => (holds(r, t) ? whenTrue : whenFalse);
}

function orderSlow(operator: OrderOperator, x: Value, y: Value, at: number, t: Thread): boolean {
  t.at = at;
  return isOrdered(operator, x, y, t);
}

function order(operator: OrderOperator, left: Operand, right: Operand, at: number): Test {
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  const c = right.constant;
  switch (operator) {
    case "<":
      if (typeof c === "number") {
        return (r, t) => {
          const x = i === 0 ? a(r, t) : (r[i] as Value);
          return typeof x === "number" ? x < c : orderSlow("<", x, c, at, t);
        };
      }
      return (r, t) => {
        const x = i === 0 ? a(r, t) : (r[i] as Value);
        const y = j === 0 ? b(r, t) : (r[j] as Value);
        return typeof x === "number" && typeof y === "number" ? x < y : orderSlow("<", x, y, at, t);
      };
    case "<=":
      return (r, t) => {
        const x = i === 0 ? a(r, t) : (r[i] as Value);
        const y = j === 0 ? b(r, t) : (r[j] as Value);
        return typeof x === "number" && typeof y === "number" ? x <= y : orderSlow("<=", x, y, at, t);
      };
    case ">":
      if (typeof c === "number") {
        return (r, t) => {
          const x = i === 0 ? a(r, t) : (r[i] as Value);
          return typeof x === "number" ? x > c : orderSlow(">", x, c, at, t);
        };
      }
      return (r, t) => {
        const x = i === 0 ? a(r, t) : (r[i] as Value);
        const y = j === 0 ? b(r, t) : (r[j] as Value);
        return typeof x === "number" && typeof y === "number" ? x > y : orderSlow(">", x, y, at, t);
      };
    default:
      return (r, t) => {
        const x = i === 0 ? a(r, t) : (r[i] as Value);
        const y = j === 0 ? b(r, t) : (r[j] as Value);
        return typeof x === "number" && typeof y === "number" ? x >= y : orderSlow(">=", x, y, at, t);
      };
  }
}
