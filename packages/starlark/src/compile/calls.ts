/**
 * Instructions for calls.
 */

import type { Builtin, Implementation } from "../library/builtin.ts";
import { callPlain, callValue, newRegisters, noneNamed } from "../run/call.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { attributeOf, fieldOf, type MethodTables, methodsOf, noAttribute } from "../value/attributes.ts";
import { FunctionValue } from "../value/function-value.ts";
import { isIterable, toItems } from "../value/iterate.ts";
import { typeOf } from "../value/type-of.ts";
import { type NamedArgument, StarlarkDict, StarlarkList, type Value } from "../value/value.ts";
import type { Operand } from "./arithmetic.ts";
import type { CallSite, Evaluator, Instruction, Registers } from "./code.ts";
import { evaluateAll } from "./evaluators.ts";

/** `callee(args…)` with positional arguments only. */
export function positionalCall(callee: Operand, args: readonly Operand[], site: CallSite): Instruction {
  const functionOf = calleeReader(callee);
  const [first, second] = args;
  if (first === undefined) {
    return (r, t) => {
      const f = functionOf(r, t);
      if (f instanceof FunctionValue && f.code.plainArity === 0) {
        return callPlain(t, f, newRegisters(f, f.code.registerCount), site);
      }
      return callValue(t, f, [], noneNamed, site);
    };
  }
  const { evaluate: a, register: i } = first;
  if (second === undefined) {
    return (r, t) => {
      const f = functionOf(r, t);
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      if (f instanceof FunctionValue && f.code.plainArity === 1) {
        const registers = newRegisters(f, f.code.registerCount);
        registers[1] = x;
        return callPlain(t, f, registers, site);
      }
      return callValue(t, f, [x], noneNamed, site);
    };
  }
  const evaluators = args.map(({ evaluate }) => evaluate);
  const count = args.length;
  return (r, t) => {
    const f = functionOf(r, t);
    if (f instanceof FunctionValue && f.code.plainArity === count) {
      const registers = newRegisters(f, f.code.registerCount);
      for (let index = 0; index < count; index += 1) registers[index + 1] = evaluators[index]!(r, t);
      return callPlain(t, f, registers, site);
    }
    return callValue(t, f, evaluateAll(evaluators, r, t), noneNamed, site);
  };
}

/** Returns an evaluator for the function that is called. */
function calleeReader({ evaluate, global }: Operand): Evaluator {
  if (global === undefined) return evaluate;
  return (r, t) => (r[0] as FunctionValue).module.globals[global] ?? evaluate(r, t);
}

/** Tests that `object` has an attribute or method of this name, before the arguments of the call are evaluated. */
export function methodCheck({ evaluate }: Operand, name: string, at: number, next: number): Instruction {
  return (r, t) => {
    const x = evaluate(r, t);
    if (!methodsOf(x, t.methods).has(name) && fieldOf(x, name, t) === undefined) {
      t.at = at;
      throw noAttribute(x, name, false, t);
    }
    return next;
  };
}

/** `object.name(args…)` with positional arguments only. */
export function methodCall(
  object: Operand,
  name: string,
  args: readonly Operand[],
  tables: MethodTables,
  dotAt: number,
  site: CallSite,
): Instruction {
  const { at, destination, next } = site;
  const count = args.length;
  // Methods are looked up by name when the program is compiled. The type of the receiver selects
  // among them at run time.
  const fitting = (method: Builtin | undefined): Builtin | undefined =>
    method !== undefined &&
    !method.defers &&
    method.variadic === undefined &&
    count >= method.required &&
    count <= method.parameters.length
      ? method
      : undefined;
  const onString = fitting(tables.string.get(name))?.invoke;
  const onList = fitting(tables.list.get(name))?.invoke;
  const onDict = fitting(tables.dict.get(name))?.invoke;
  const methodOf = (x: Value): Implementation | undefined => {
    if (typeof x === "string") return onString;
    if (x instanceof StarlarkList) return onList;
    return x instanceof StarlarkDict ? onDict : undefined;
  };
  const evaluators = args.map(({ evaluate }) => evaluate);
  const general = (x: Value, r: Registers, t: Thread): number => {
    t.at = dotAt;
    const f = attributeOf(x, name, false, t);
    return callValue(t, f, evaluateAll(evaluators, r, t), noneNamed, site);
  };
  const { evaluate, register } = object;
  const [first, second] = args;
  if (first === undefined) {
    return (r, t) => {
      const x = register === 0 ? evaluate(r, t) : (r[register] as Value);
      const invoke = methodOf(x);
      if (invoke === undefined) return general(x, r, t);
      t.at = at;
      r[destination] = invoke(t, x) as Value;
      return next;
    };
  }
  const { evaluate: a, register: i } = first;
  if (second === undefined) {
    return (r, t) => {
      const x = register === 0 ? evaluate(r, t) : (r[register] as Value);
      const invoke = methodOf(x);
      if (invoke === undefined) return general(x, r, t);
      const y = i === 0 ? a(r, t) : (r[i] as Value);
      t.at = at;
      r[destination] = invoke(t, x, y) as Value;
      return next;
    };
  }
  const { evaluate: b, register: j } = second;
  if (count === 2) {
    return (r, t) => {
      const x = register === 0 ? evaluate(r, t) : (r[register] as Value);
      const invoke = methodOf(x);
      if (invoke === undefined) return general(x, r, t);
      const y = i === 0 ? a(r, t) : (r[i] as Value);
      const z = j === 0 ? b(r, t) : (r[j] as Value);
      t.at = at;
      r[destination] = invoke(t, x, y, z) as Value;
      return next;
    };
  }
  return (r, t) => {
    const x = register === 0 ? evaluate(r, t) : (r[register] as Value);
    const invoke = methodOf(x);
    if (invoke === undefined) return general(x, r, t);
    const values = evaluateAll(evaluators, r, t);
    t.at = at;
    r[destination] = invoke(t, x, ...values) as Value;
    return next;
  };
}

/** The parts of a call that has other than positional arguments. */
export interface GeneralCall {
  readonly callee: Evaluator;
  readonly positional: readonly Evaluator[];
  readonly names: readonly string[];
  readonly named: readonly Evaluator[];
  readonly star: Evaluator | undefined;
  readonly doubleStar: Evaluator | undefined;
}

/** `callee(x, name=y, *z, **w)`. */
export function generalCall(call: GeneralCall, site: CallSite): Instruction {
  const { callee, positional, names, named, star, doubleStar } = call;
  return (r, t) => {
    const f = callee(r, t);
    let args = evaluateAll(positional, r, t);
    let pairs: NamedArgument[] | undefined;
    for (let index = 0; index < names.length; index += 1) {
      pairs ??= [];
      pairs.push([names[index]!, named[index]!(r, t)]);
    }
    const more = star?.(r, t);
    const moreNamed = doubleStar?.(r, t);
    t.at = site.at;
    if (more !== undefined) args = args.concat(starred(more, t));
    if (moreNamed !== undefined) pairs = [...(pairs ?? []), ...doubleStarred(moreNamed, t)];
    return callValue(t, f, args, pairs ?? noneNamed, site);
  };
}

function starred(value: Value, t: Thread): Value[] {
  if (!isIterable(value)) {
    throw new StarlarkError(`argument after * must be iterable, not ${typeOf(value)}`);
  }
  return toItems(value, t);
}

function doubleStarred(value: Value, t: Thread): NamedArgument[] {
  if (!(value instanceof StarlarkDict)) {
    throw new StarlarkError(`argument after ** must be a mapping, not ${typeOf(value)}`);
  }
  const pairs: NamedArgument[] = [];
  t.charge(64 * value.size);
  t.step(value.size);
  for (const { key, value: given } of value.entries.values()) {
    if (typeof key !== "string") throw new StarlarkError(`keywords must be strings, not ${typeOf(key)}`);
    pairs.push([key, given]);
  }
  return pairs;
}
