/**
 * Evaluators of names, literals, attributes, indices and other pure expressions
 * except arithmetic.
 */

import type { Builtin } from "../library/builtin.ts";
import { formatWithSpec } from "../library/format-spec.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { attributeOf } from "../value/attributes.ts";
import { internalised, isShape, type Shape } from "../value/entry-table.ts";
import type { Cell, FunctionValue } from "../value/function-value.ts";
import { hashKey, type Key } from "../value/hash-key.ts";
import {
  dictEntryWeight,
  listWeight,
  recordFieldWeight,
  stringWeight,
  tableWeight,
  tupleWeight,
} from "../value/heap-weight.ts";
import { index, noKey, unary } from "../value/operators.ts";
import { repr, str } from "../value/repr.ts";
import { slice } from "../value/slice.ts";
import { dictSet } from "../value/table.ts";
import { truth } from "../value/truth.ts";
import { StarlarkDict, StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { type Operand, unassigned } from "./arithmetic.ts";
import type { Evaluator, Registers, Test } from "./code.ts";

export function constantEvaluator(value: Value): Evaluator {
  return () => value;
}

/** Reads a local that is certain to be assigned, or an intermediate value. */
export function registerEvaluator(register: number): Evaluator {
  return (r) => r[register] as Value;
}

export function localEvaluator(register: number, name: string, at: number): Evaluator {
  return (r, t) => {
    const value = r[register];
    if (value === undefined) throw unassigned("local", name, at, t);
    return value as Value;
  };
}

/** Reads a variable that inner functions capture. */
export function cellEvaluator(register: number, name: string, at: number): Evaluator {
  return (r, t) => {
    const { value } = r[register] as Cell;
    if (value === undefined) throw unassigned("local", name, at, t);
    return value;
  };
}

/** Reads a captured variable of an enclosing function. */
export function freeEvaluator(freeIndex: number, name: string, at: number): Evaluator {
  return (r, t) => {
    const { value } = (r[0] as FunctionValue).free[freeIndex]!;
    if (value === undefined) throw unassigned("local", name, at, t);
    return value;
  };
}

export function globalEvaluator(globalIndex: number, name: string, at: number): Evaluator {
  return (r, t) => {
    const value = (r[0] as FunctionValue).module.globals[globalIndex];
    if (value === undefined) throw unassigned("global", name, at, t);
    return value;
  };
}

export function predeclaredEvaluator(predeclaredIndex: number): Evaluator {
  return (r) => (r[0] as FunctionValue).module.predeclared[predeclaredIndex]!;
}

/** Tests the truth value of an expression. */
export function truthTest(evaluate: Evaluator): Test {
  return (r, t) => {
    const value = evaluate(r, t);
    return typeof value === "boolean" ? value : truth(value);
  };
}

export function unaryEvaluator(operator: "+" | "-" | "~", operand: Evaluator, at: number): Evaluator {
  return (r, t) => {
    const x = operand(r, t);
    t.at = at;
    return unary(operator, x, t);
  };
}

export function attributeEvaluator(
  object: Evaluator,
  name: string,
  at: number,
  dataFirst: boolean,
): Evaluator {
  return (r, t) => {
    const x = object(r, t);
    t.at = at;
    return attributeOf(x, name, dataFirst, t);
  };
}

export function indexEvaluator(object: Operand, key: Operand, at: number): Evaluator {
  if (typeof key.constant === "string") return keyEvaluator(object, key.constant, at);
  const [a, b] = [object.evaluate, key.evaluate];
  const [i, j] = [object.register, key.register];
  return (r, t) => {
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (x instanceof StarlarkList || x instanceof StarlarkTuple) {
      if (typeof y === "number" && y >= 0 && y < x.items.length) return x.items[y]!;
    }
    t.at = at;
    if (x instanceof StarlarkDict) {
      const value = x.entries.get(hashKey(y, t));
      if (value !== undefined) return value;
      throw noKey(x, y, t);
    }
    return index(x, y, t);
  };
}

/** `object["key"]`. */
function keyEvaluator({ evaluate, register }: Operand, key: string, at: number): Evaluator {
  // Only keys that start with NUL have a different hash key.
  const plain = key.charCodeAt(0) !== 0;
  // The shape of the last record that was read here, and the position of the key in it.
  let shape: readonly Key[] | undefined;
  let place = 0;
  return (r, t) => {
    const x = register === 0 ? evaluate(r, t) : (r[register] as Value);
    if (plain && x instanceof StarlarkDict) {
      const { entries } = x;
      const itsShape = entries.shape;
      if (itsShape === undefined) {
        const value = entries.get(key);
        if (value !== undefined) return value;
      } else {
        if (itsShape !== shape) {
          shape = itsShape;
          place = entries.placeOf(key);
        }
        if (place !== -1) return entries.at(place);
      }
    }
    t.at = at;
    return index(x, key, t);
  };
}

export function sliceEvaluator(
  object: Evaluator,
  low: Evaluator,
  high: Evaluator,
  step: Evaluator,
  at: number,
): Evaluator {
  return (r, t) => {
    const x = object(r, t);
    const [from, to, stride] = [low(r, t), high(r, t), step(r, t)];
    t.at = at;
    return slice(x, from, to, stride, t);
  };
}

export function listEvaluator(elements: readonly Evaluator[], at: number): Evaluator {
  const weight = listWeight(elements.length);
  return (r, t) => {
    t.at = at;
    t.charge(weight);
    return new StarlarkList(evaluateAll(elements, r, t));
  };
}

export function tupleEvaluator(elements: readonly Evaluator[], at: number): Evaluator {
  const weight = tupleWeight(elements.length);
  if (elements.length === 2) {
    const [a, b] = elements as [Evaluator, Evaluator];
    return (r, t) => {
      t.at = at;
      t.charge(weight);
      return new StarlarkTuple([a(r, t), b(r, t)]);
    };
  }
  return (r, t) => {
    t.at = at;
    t.charge(weight);
    return new StarlarkTuple(evaluateAll(elements, r, t));
  };
}

/** Evaluates several expressions in order. */
export function evaluateAll(elements: readonly Evaluator[], r: Registers, t: Thread): Value[] {
  const [a, b, c] = elements;
  // An array literal has no spare capacity; the first `push` to an empty array reserves seventeen
  // elements.
  if (a === undefined) return [];
  if (b === undefined) return [a(r, t)];
  if (c === undefined) return [a(r, t), b(r, t)];
  return elements.map((evaluate) => evaluate(r, t));
}

/** Makes a dict from alternating keys and values; `ats` are the offsets of the colons. */
export function dictEvaluator(parts: readonly Operand[], ats: readonly number[], at: number): Evaluator {
  const weight = tableWeight + dictEntryWeight * ats.length;
  const keys = ats.flatMap((_, entry) => parts[2 * entry]!.constant ?? []);
  if (keys.length === ats.length && isShape(keys) && new Set(keys).size === keys.length) {
    return recordEvaluator(
      keys as Shape,
      keys.map((_, entry) => parts[2 * entry + 1]!.evaluate),
      tableWeight + recordFieldWeight * ats.length,
      at,
    );
  }
  return (r, t) => {
    t.at = at;
    t.charge(weight);
    const dict = new StarlarkDict();
    for (let entry = 0; entry < ats.length; entry += 1) {
      const key = parts[2 * entry]!.evaluate(r, t);
      const value = parts[2 * entry + 1]!.evaluate(r, t);
      t.at = ats[entry]!;
      const hashed = hashKey(key, t);
      if (dict.entries.has(hashed)) throw new StarlarkError(`duplicate key: ${repr(key, t)}`);
      dict.entries.add(hashed, key, value);
    }
    return dict;
  };
}

/** Makes a dict whose keys are constants: a record, which always has the same shape. */
function recordEvaluator(keys: Shape, values: readonly Evaluator[], weight: number, at: number): Evaluator {
  const shape = keys.map(internalised);
  return (r, t) => {
    t.at = at;
    t.charge(weight);
    return new StarlarkDict(shape, evaluateAll(values, r, t));
  };
}

/** Adds an entry in a dict comprehension. */
export function addEntry(dict: StarlarkDict, key: Value, value: Value, at: number, t: Thread): void {
  t.at = at;
  dictSet(dict, key, value, t);
}

/** One field of an f-string. */
export interface FormattedField {
  readonly evaluate: Evaluator;
  readonly conversion: "r" | "s" | undefined;
  readonly spec: string | undefined;
  readonly at: number;
}

export function fStringEvaluator(parts: readonly (string | FormattedField)[], at: number): Evaluator {
  return (r, t) => {
    let text = "";
    for (const part of parts) {
      const piece = typeof part === "string" ? part : formatField(part, r, t);
      t.at = at;
      t.charge(stringWeight(piece.length));
      text += piece;
    }
    return text;
  };
}

function formatField({ evaluate, conversion, spec, at }: FormattedField, r: Registers, t: Thread): string {
  const value = evaluate(r, t);
  t.at = at;
  if (spec !== undefined) return formatWithSpec(value, conversion, spec, t);
  return conversion === "r" ? repr(value, t) : str(value, t);
}

/** Calls a builtin that is known at compile time and calls no function of the program. */
export function builtinCallEvaluator(callee: Builtin, args: readonly Evaluator[], at: number): Evaluator {
  const { variadic, invoke } = callee;
  if (variadic !== undefined) {
    return (r, t) => {
      const values = evaluateAll(args, r, t);
      t.at = at;
      return variadic.call(callee, t, null, values, []) as Value;
    };
  }
  if (args.length === 1) {
    const a = args[0]!;
    return (r, t) => {
      const x = a(r, t);
      t.at = at;
      return invoke(t, null, x) as Value;
    };
  }
  return (r, t) => {
    const values = evaluateAll(args, r, t);
    t.at = at;
    return invoke(t, null, ...values) as Value;
  };
}
