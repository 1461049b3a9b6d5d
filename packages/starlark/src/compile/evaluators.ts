/** Closures for names, displays, attributes, indices and the like: everything pure but arithmetic. */

import type { Builtin } from "../library/builtin.ts";
import { formatWithSpec } from "../library/format-spec.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { attributeOf } from "../value/attributes.ts";
import type { Cell, FunctionValue } from "../value/function-value.ts";
import { hashKey } from "../value/hash-key.ts";
import { dictEntryWeight, listWeight, stringWeight, tableWeight, tupleWeight } from "../value/heap-weight.ts";
import { index, noKey, slice, unary } from "../value/operators.ts";
import { repr, str } from "../value/repr.ts";
import { dictSet } from "../value/table.ts";
import { truth } from "../value/truth.ts";
import { StarlarkDict, StarlarkList, StarlarkTuple, type Value } from "../value/value.ts";
import { unassigned } from "./arithmetic.ts";
import type { Evaluator, Registers, Test } from "./code.ts";

export function constantEvaluator(value: Value): Evaluator {
  return () => value;
}

/** A local that is certainly assigned: a parameter, or a register between two instructions. */
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

/** A variable that this function shares with inner ones. */
export function cellEvaluator(register: number, name: string, at: number): Evaluator {
  return (r, t) => {
    const { value } = r[register] as Cell;
    if (value === undefined) throw unassigned("local", name, at, t);
    return value;
  };
}

/** A variable of an outer function. */
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

/** The truth of a value as a test. */
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

export function indexEvaluator(object: Evaluator, key: Evaluator, at: number, constant?: Value): Evaluator {
  if (typeof constant === "string") return keyEvaluator(object, constant, at);
  return (r, t) => {
    const x = object(r, t);
    const y = key(r, t);
    if (x instanceof StarlarkList || x instanceof StarlarkTuple) {
      if (typeof y === "number" && y >= 0 && y < x.items.length) return x.items[y]!;
    }
    t.at = at;
    if (x instanceof StarlarkDict) {
      const entry = x.entries.get(hashKey(y, t));
      if (entry !== undefined) return entry.value;
      throw noKey(x, y, t);
    }
    return index(x, y, t);
  };
}

/** `object["key"]`. */
function keyEvaluator(object: Evaluator, key: string, at: number): Evaluator {
  // Only a key with a NUL in front is hashed to something else.
  const plain = key.charCodeAt(0) !== 0;
  return (r, t) => {
    const x = object(r, t);
    if (plain && x instanceof StarlarkDict) {
      const entry = x.entries.get(key);
      if (entry !== undefined) return entry.value;
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

/** The values of several expressions, in order. */
export function evaluateAll(elements: readonly Evaluator[], r: Registers, t: Thread): Value[] {
  const values: Value[] = [];
  for (let at = 0; at < elements.length; at += 1) values.push(elements[at]!(r, t));
  return values;
}

/** A dict display: keys and values in turns; `ats` are the offsets of the colons. */
export function dictEvaluator(parts: readonly Evaluator[], ats: readonly number[], at: number): Evaluator {
  const weight = tableWeight + dictEntryWeight * ats.length;
  return (r, t) => {
    t.at = at;
    t.charge(weight);
    const dict = new StarlarkDict();
    for (let entry = 0; entry < ats.length; entry += 1) {
      const key = parts[2 * entry]!(r, t);
      const value = parts[2 * entry + 1]!(r, t);
      t.at = ats[entry]!;
      const hashed = hashKey(key, t);
      if (dict.entries.has(hashed)) throw new StarlarkError(`duplicate key: ${repr(key, t)}`);
      dict.entries.add(hashed, key, value);
    }
    return dict;
  };
}

/** Add one association in a dict comprehension. */
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

/** A call of a builtin that is known when the program is compiled and calls nothing back. */
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
