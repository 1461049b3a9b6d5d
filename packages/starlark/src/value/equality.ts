/**
 * Equality: deep, by value, and never an error for values of different types.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { compareNumbers, isNumber } from "./number.ts";
import {
  HostObject,
  StarlarkBytes,
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkRange,
  StarlarkSet,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
} from "./value.ts";

/** Maximum nesting that a comparison follows; cyclic values reach it. @limit program */
export const maxComparisonDepth = 200;

/** `a == b`. */
export function equals(a: Value, b: Value, t: Thread): boolean {
  if (typeof a !== "object" && typeof b !== "object") {
    if (typeof a === "string" && typeof b === "string" && a.length === b.length) stepStrings(a, b, t);
    return a === b;
  }
  return equalsDeep(a, b, t, 0);
}

/** Steps to compare two strings; the comparison of short strings is included in the step of the expression. */
export function stepStrings(a: string, b: string, t: Thread): void {
  const shared = a.length < b.length ? a.length : b.length;
  if (shared > 256) t.step(shared >> 7);
}

export function comparisonTooDeep(): StarlarkError {
  return new StarlarkError("comparison exceeded maximum recursion depth");
}

function equalsDeep(a: Value, b: Value, t: Thread, depth: number): boolean {
  // A cyclic list must reach the limit even if it is compared with itself, so identity is not a
  // shortcut here.
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) {
    if (typeof a === "string") return typeof b === "string" && equals(a, b, t);
    if (a === b) return true;
    if (a instanceof StarlarkFloat || b instanceof StarlarkFloat) {
      return isNumber(a) && isNumber(b) && compareNumbers(a, b) === 0;
    }
    return false;
  }
  if (depth > maxComparisonDepth) throw comparisonTooDeep();
  t.step(1);
  if (a instanceof StarlarkFloat) return b instanceof StarlarkFloat && compareNumbers(a, b) === 0;
  if (a instanceof StarlarkList) return b instanceof StarlarkList && equalItems(a.items, b.items, t, depth);
  if (a instanceof StarlarkTuple) return b instanceof StarlarkTuple && equalItems(a.items, b.items, t, depth);
  if (a instanceof StarlarkDict) return b instanceof StarlarkDict && equalDicts(a, b, t, depth);
  if (a instanceof StarlarkSet) return b instanceof StarlarkSet && isSubset(a, b, t) && a.size === b.size;
  if (a instanceof StarlarkBytes) return b instanceof StarlarkBytes && equalOctets(a.octets, b.octets, t);
  if (a instanceof StarlarkRange) return b instanceof StarlarkRange && equalRanges(a, b);
  if (a instanceof StarlarkStruct) return b instanceof StarlarkStruct && equalStructs(a, b, t, depth);
  if (a instanceof HostObject && b instanceof HostObject) return equalHostObjects(a, b, t);
  return a === b;
}

function equalItems(a: readonly Value[], b: readonly Value[], t: Thread, depth: number): boolean {
  if (a.length !== b.length) return false;
  t.step(a.length >> 2);
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index]!, b[index]!];
    if (typeof x === "object" || typeof y === "object") {
      if (!equalsDeep(x, y, t, depth + 1)) return false;
    } else if (!equals(x, y, t)) {
      return false;
    }
  }
  return true;
}

function equalDicts(a: StarlarkDict, b: StarlarkDict, t: Thread, depth: number): boolean {
  if (a.size !== b.size) return false;
  for (const entry of a.entries.values()) {
    t.step(1);
    const other = b.entries.get(entry.hashed);
    if (other === undefined || !equalsDeep(entry.value, other, t, depth + 1)) return false;
  }
  return true;
}

/** Whether every member of `a` is in `b`. */
export function isSubset(a: StarlarkSet, b: StarlarkSet, t: Thread): boolean {
  if (a.size > b.size) return false;
  t.step(a.size >> 2);
  for (const hashed of a.members.keys()) {
    if (!b.members.has(hashed)) return false;
  }
  return true;
}

function equalOctets(a: Uint8Array, b: Uint8Array, t: Thread): boolean {
  return a.length === b.length && compareOctets(a, b, t) === 0;
}

/** Compares two octet strings: negative, 0 or positive. */
export function compareOctets(a: Uint8Array, b: Uint8Array, t: Thread): number {
  const shared = Math.min(a.length, b.length);
  t.step(shared >> 4);
  for (let index = 0; index < shared; index += 1) {
    if (a[index] !== b[index]) return a[index]! - b[index]!;
  }
  return a.length - b.length;
}

function equalRanges(a: StarlarkRange, b: StarlarkRange): boolean {
  if (a.length !== b.length) return false;
  return a.length === 0 || (a.start === b.start && (a.length === 1 || a.step === b.step));
}

function equalStructs(a: StarlarkStruct, b: StarlarkStruct, t: Thread, depth: number): boolean {
  if (a.fields.size !== b.fields.size) return false;
  if (!equalsDeep(a.constructorValue, b.constructorValue, t, depth + 1)) return false;
  for (const [name, value] of a.fields) {
    const other = b.fields.get(name);
    if (other === undefined || !equalsDeep(value, other, t, depth + 1)) return false;
  }
  return true;
}

function equalHostObjects(a: HostObject, b: HostObject, t: Thread): boolean {
  if (a === b) return true;
  if (a.hashKey !== undefined && b.hashKey !== undefined && a.type === b.type)
    return a.hashKey() === b.hashKey();
  return a.compare?.(b, t) === 0;
}
