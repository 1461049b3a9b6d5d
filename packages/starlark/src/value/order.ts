/**
 * Order: `<`, `<=`, `>`, `>=` and sorting. Numbers are ordered, and so are strings
 * (by UTF-16 code unit), bytes, bools, lists and tuples (element by element), and
 * sets (by inclusion). Other values have no order.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import {
  compareOctets,
  comparisonTooDeep,
  equals,
  isSubset,
  maxComparisonDepth,
  stepStrings,
} from "./equality.ts";
import { compareNumbers, isNumber } from "./number.ts";
import { typeOf } from "./type-of.ts";
import { HostObject, StarlarkBytes, StarlarkList, StarlarkSet, StarlarkTuple, type Value } from "./value.ts";

/** Comparison operators that require an order. */
export type OrderOperator = "<" | "<=" | ">" | ">=";

/** `a <operator> b`. */
export function isOrdered(operator: OrderOperator, a: Value, b: Value, t: Thread): boolean {
  if (a instanceof StarlarkSet && b instanceof StarlarkSet) return includes(operator, a, b, t);
  const order = compare(a, b, t, operator);
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    default:
      return order >= 0;
  }
}

/**
 * Compares two values for sorting: negative if `a` is first, positive if `b` is, 0 if
 * they are equal.
 *
 * @param operator the operator in the error. @default "<"
 * @throws {StarlarkError} `int < string not implemented`.
 */
export function compare(a: Value, b: Value, t: Thread, operator: OrderOperator = "<"): number {
  return compareDeep(a, b, t, operator, 0);
}

function compareDeep(a: Value, b: Value, t: Thread, operator: OrderOperator, depth: number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") {
    stepStrings(a, b, t);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (depth > maxComparisonDepth) throw comparisonTooDeep();
  t.step(1);
  if (a instanceof StarlarkList && b instanceof StarlarkList) {
    return compareItems(a.items, b.items, t, operator, depth);
  }
  if (a instanceof StarlarkTuple && b instanceof StarlarkTuple) {
    return compareItems(a.items, b.items, t, operator, depth);
  }
  if (a instanceof StarlarkBytes && b instanceof StarlarkBytes) return compareOctets(a.octets, b.octets, t);
  if (a instanceof HostObject) {
    const order = a.compare?.(b, t);
    if (order !== undefined) return order;
  }
  throw new StarlarkError(`${typeOf(a)} ${operator} ${typeOf(b)} not implemented`);
}

function compareItems(
  a: readonly Value[],
  b: readonly Value[],
  t: Thread,
  operator: OrderOperator,
  depth: number,
): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const [x, y] = [a[index]!, b[index]!];
    t.step(1);
    if (typeof x !== "object" && typeof y !== "object" && typeof x === typeof y) {
      if (equals(x, y, t)) continue;
      return compareDeep(x, y, t, operator, depth + 1);
    }
    // Equal elements do not need an order.
    if (depth + 1 > maxComparisonDepth) throw comparisonTooDeep();
    if (!equals(x, y, t)) return compareDeep(x, y, t, operator, depth + 1);
  }
  return a.length - b.length;
}

function includes(operator: OrderOperator, a: StarlarkSet, b: StarlarkSet, t: Thread): boolean {
  switch (operator) {
    case "<":
      return a.size < b.size && isSubset(a, b, t);
    case "<=":
      return isSubset(a, b, t);
    case ">":
      return b.size < a.size && isSubset(b, a, t);
    default:
      return isSubset(b, a, t);
  }
}
