/**
 * Freezing: makes a value and everything that it refers to immutable.
 */

import { FunctionValue, type ModuleState } from "./function-value.ts";
import type { Frozenness, Value } from "./value.ts";
import { Container, pushObjects, SharedObject, StarlarkList } from "./value.ts";

/** Freezes `value` and everything that is reachable from it, visiting each object once. */
export function freeze(value: Value): void {
  freezeAll([value]);
}

/** Freezes all of `values`. */
export function freezeAll(values: readonly (Value | undefined)[]): void {
  const met = new Set<SharedObject>();
  const rest: Value[] = [];
  for (const value of values) {
    if (value !== undefined) rest.push(value);
  }
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (!(value instanceof SharedObject)) continue;
    if (value instanceof Container) {
      // A frozen object has already been visited.
      if (value.frozen === 1) continue;
    } else {
      if (met.has(value)) continue;
      met.add(value);
    }
    value.freeze(rest);
  }
}

/**
 * Freezes everything that is reachable from `values`, temporarily.
 *
 * @returns a function that thaws what this call froze, and nothing that was frozen
 *   before.
 */
export function freezeForNow(values: readonly Value[]): () => void {
  const met = new Set<SharedObject>();
  const modules = new Set<ModuleState>();
  const thawed: Container[] = [];
  const rest: Value[] = [...values];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (!(value instanceof SharedObject)) continue;
    if (value instanceof Container) {
      if (value.frozen !== 0) continue;
      value.frozen = 2 satisfies Frozenness;
      thawed.push(value);
    } else {
      if (met.has(value)) continue;
      met.add(value);
    }
    if (value instanceof StarlarkList) pushObjects(rest, value.items);
    else value.references(rest);
    if (value instanceof FunctionValue && !modules.has(value.module)) {
      // The globals of a function's file are captured like any other variable.
      modules.add(value.module);
      for (const global of value.module.globals) {
        if (global !== undefined) rest.push(global);
      }
    }
  }
  return () => {
    for (const container of thawed) {
      if (container.frozen === 2) container.frozen = 0;
    }
  };
}
