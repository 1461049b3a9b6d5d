/** Instructions that call. */

import type { Builtin } from "../library/builtin.ts";
import { callValue, enter, noneNamed } from "../run/call.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { attributeOf, type MethodTables } from "../value/attributes.ts";
import { FunctionValue } from "../value/function-value.ts";
import { isIterable, toItems } from "../value/iterate.ts";
import { typeOf } from "../value/type-of.ts";
import { type NamedArgument, StarlarkDict, StarlarkList, type Value } from "../value/value.ts";
import type { CallSite, Evaluator, Instruction, Registers } from "./code.ts";
import { evaluateAll } from "./evaluators.ts";

/** `callee(args…)` with positional arguments only. */
export function positionalCall(callee: Evaluator, args: readonly Evaluator[], site: CallSite): Instruction {
  const [a, b] = args;
  if (a === undefined) {
    return (r, t) => {
      const f = callee(r, t);
      if (f instanceof FunctionValue && f.code.plainArity === 0) {
        const registers: Registers = new Array(f.code.registerCount);
        registers[0] = f;
        return enter(t, f.code, registers, site);
      }
      return callValue(t, f, [], noneNamed, site);
    };
  }
  if (b === undefined) {
    return (r, t) => {
      const f = callee(r, t);
      if (f instanceof FunctionValue && f.code.plainArity === 1) {
        const registers: Registers = new Array(f.code.registerCount);
        registers[0] = f;
        registers[1] = a(r, t);
        return enter(t, f.code, registers, site);
      }
      return callValue(t, f, [a(r, t)], noneNamed, site);
    };
  }
  const count = args.length;
  return (r, t) => {
    const f = callee(r, t);
    if (f instanceof FunctionValue && f.code.plainArity === count) {
      const registers: Registers = new Array(f.code.registerCount);
      registers[0] = f;
      for (let index = 0; index < count; index += 1) registers[index + 1] = args[index]!(r, t);
      return enter(t, f.code, registers, site);
    }
    return callValue(t, f, evaluateAll(args, r, t), noneNamed, site);
  };
}

/** `object.name(args…)` with positional arguments only. */
export function methodCall(
  object: Evaluator,
  name: string,
  args: readonly Evaluator[],
  tables: MethodTables,
  dotAt: number,
  site: CallSite,
): Instruction {
  const { at, destination, next } = site;
  const count = args.length;
  // Methods are found by name when the program is compiled; the type chooses among them when it runs.
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
  const general = (x: Value, r: Registers, t: Thread): number => {
    t.at = dotAt;
    const f = attributeOf(x, name, false, t);
    return callValue(t, f, evaluateAll(args, r, t), noneNamed, site);
  };
  const [a, b] = args;
  if (count === 1) {
    return (r, t) => {
      const x = object(r, t);
      const invoke =
        typeof x === "string"
          ? onString
          : x instanceof StarlarkList
            ? onList
            : x instanceof StarlarkDict
              ? onDict
              : undefined;
      if (invoke === undefined) return general(x, r, t);
      const y = a!(r, t);
      t.at = at;
      r[destination] = invoke(t, x, y) as Value;
      return next;
    };
  }
  return (r, t) => {
    const x = object(r, t);
    const invoke =
      typeof x === "string"
        ? onString
        : x instanceof StarlarkList
          ? onList
          : x instanceof StarlarkDict
            ? onDict
            : undefined;
    if (invoke === undefined) return general(x, r, t);
    if (count === 0) {
      t.at = at;
      r[destination] = invoke(t, x) as Value;
    } else if (count === 2) {
      const y = a!(r, t);
      const z = b!(r, t);
      t.at = at;
      r[destination] = invoke(t, x, y, z) as Value;
    } else {
      const values = evaluateAll(args, r, t);
      t.at = at;
      r[destination] = invoke(t, x, ...values) as Value;
    }
    return next;
  };
}

/** The parts of a call that is not purely positional. */
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
