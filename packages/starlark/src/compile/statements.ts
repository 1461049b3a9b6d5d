/**
 * Instructions of statements, and evaluators that do more than `evaluators.ts` and
 * `arithmetic.ts`.
 */

import { nearestSpelling } from "../resolve/spelling.ts";
import { defer } from "../run/call.ts";
import { Pending } from "../run/deferred.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import type { ArithmeticOperator } from "../syntax/ast.ts";
import type { ErrorValue } from "../value/error-value.ts";
import { type Cell, FunctionValue } from "../value/function-value.ts";
import { elementWeight, listWeight, tableWeight } from "../value/heap-weight.ts";
import { isIterable, iterate, RangeIterator, toItems } from "../value/iterate.ts";
import { binary, setIndex, updateDict } from "../value/operators.ts";
import { truth } from "../value/truth.ts";
import { typeOf } from "../value/type-of.ts";
import {
  HostObject,
  StarlarkDict,
  StarlarkList,
  StarlarkModule,
  StarlarkTuple,
  type Value,
  type ValueIterator,
} from "../value/value.ts";
import { addSlow, arithmeticEvaluator, type Operand } from "./arithmetic.ts";
import {
  type CallSite,
  type Code,
  type Evaluator,
  type Instruction,
  leaveMachine,
  type Registers,
  type Test,
} from "./code.ts";
import { addEntry } from "./evaluators.ts";

/** Refuels when the fuel is used up. Continues at `to`, or yields at the end of the slice. */
function giveWay(t: Thread, to: number, at: number): number {
  t.at = at;
  t.refuel();
  if (!t.yieldDue) return to;
  t.frame!.pc = to;
  return leaveMachine;
}

export function evaluateInstruction(evaluate: Evaluator, next: number): Instruction {
  return (r, t) => {
    evaluate(r, t);
    return next;
  };
}

/** Starts a loop: stores an iterator in a register. */
export function iterateInstruction(
  iterable: Evaluator,
  register: number,
  at: number,
  next: number,
): Instruction {
  return (r, t) => {
    const value = iterable(r, t);
    t.at = at;
    r[register] = iterate(value);
    return next;
  };
}

/** One iteration of a loop: store the next element in a register, or continue at the end. */
export function nextInstruction(
  iteratorRegister: number,
  register: number,
  weight: { readonly steps: number },
  at: number,
  next: number,
  end: number,
): Instruction {
  const { steps } = weight;
  return (r, t) => {
    const iterator = r[iteratorRegister] as ValueIterator;
    const element = iterator instanceof RangeIterator ? iterator.next() : iterator.next();
    if (element === undefined) {
      iterator.close();
      r[iteratorRegister] = undefined;
      return end;
    }
    r[register] = element;
    t.fuel -= steps;
    if (t.fuel < 0) return giveWay(t, next, at);
    return next;
  };
}

export function whileInstruction(
  holds: Test,
  weight: { readonly steps: number },
  at: number,
  next: number,
  end: number,
): Instruction {
  const { steps } = weight;
  return (r, t) => {
    const to = holds(r, t) ? next : end;
    t.fuel -= steps;
    if (t.fuel < 0) return giveWay(t, to, at);
    return to;
  };
}

/** Closes the iterators of loops that are left early. */
export function closeInstruction(iterators: readonly number[], next: number): Instruction {
  return (r) => {
    for (const register of iterators) {
      (r[register] as ValueIterator | undefined)?.close();
      r[register] = undefined;
    }
    return next;
  };
}

/** `object[key] = value`; the value is evaluated first. */
export function setIndexInstruction(
  object: Operand,
  key: Operand,
  value: Evaluator,
  at: number,
  next: number,
): Instruction {
  const [a, b] = [object.evaluate, key.evaluate];
  const [i, j] = [object.register, key.register];
  return (r, t) => {
    const z = value(r, t);
    const x = i === 0 ? a(r, t) : (r[i] as Value);
    const y = j === 0 ? b(r, t) : (r[j] as Value);
    if (x instanceof StarlarkList && typeof y === "number" && y >= 0 && y < x.items.length) {
      if (x.frozen === 0 && x.locks === 0) {
        x.items[y] = z;
        return next;
      }
    }
    t.at = at;
    setIndex(x, y, z, t);
    return next;
  };
}

export function setAttributeInstruction(
  object: Evaluator,
  name: string,
  value: Evaluator,
  at: number,
  next: number,
): Instruction {
  return (r, t) => {
    const x = object(r, t);
    const y = value(r, t);
    t.at = at;
    if (!(x instanceof HostObject) || x.setAttribute === undefined) throw notSettable(x, name);
    x.setAttribute(name, y, t);
    return next;
  };
}

function notSettable(x: Value, name: string): StarlarkError {
  const hint = x instanceof StarlarkDict ? `write x["${name}"] = …` : undefined;
  return new StarlarkError(`can't assign to .${name} field of ${typeOf(x)}`, { hint });
}

/** `a, b, c = value`, with each element stored in its register. */
export function unpackInstruction(
  value: Evaluator,
  registers: readonly number[],
  at: number,
  next: number,
): Instruction {
  const count = registers.length;
  return (r, t) => {
    const sequence = value(r, t);
    const items =
      sequence instanceof StarlarkTuple || sequence instanceof StarlarkList
        ? sequence.items
        : itemsOf(sequence, at, t);
    if (items.length !== count) throw wrongLength(items.length, count, at, t);
    for (let index = 0; index < count; index += 1) r[registers[index]!] = items[index]!;
    return next;
  };
}

function itemsOf(sequence: Value, at: number, t: Thread): readonly Value[] {
  t.at = at;
  if (!isIterable(sequence)) throw new StarlarkError(`got ${typeOf(sequence)} in sequence assignment`);
  return toItems(sequence, t);
}

function wrongLength(got: number, want: number, at: number, t: Thread): StarlarkError {
  t.at = at;
  const many = got > want ? "many" : "few";
  return new StarlarkError(`too ${many} values to unpack (got ${got}, want ${want})`);
}

/** `x <operator>= y`: lists, dicts and sets change in place. */
export function augmentedEvaluator(
  operator: ArithmeticOperator,
  left: Operand,
  right: Operand,
  at: number,
): Evaluator {
  if (operator !== "+" && operator !== "|") return arithmeticEvaluator(operator, left, right, at);
  const combine = arithmeticEvaluator(operator, left, right, at);
  const [a, b] = [left.evaluate, right.evaluate];
  const [i, j] = [left.register, right.register];
  if (operator === "+") {
    if (typeof right.constant === "number") return combine;
    return (r, t) => {
      const x = i === 0 ? a(r, t) : (r[i] as Value);
      const y = j === 0 ? b(r, t) : (r[j] as Value);
      if (typeof x === "number" && typeof y === "number") {
        const sum = x + y;
        if (Number.isSafeInteger(sum)) return sum;
      }
      if (x instanceof StarlarkList) return extend(x, y, at, t);
      return addSlow(x, y, at, t);
    };
  }
  return (r, t) => {
    const x = a(r, t);
    if (!(x instanceof StarlarkDict)) return combine(r, t);
    const y = b(r, t);
    t.at = at;
    if (!(y instanceof StarlarkDict)) return binary("|", x, y, t);
    x.checkMutable("apply |= to");
    updateDict(x, y, t);
    return x;
  };
}

/** `list += iterable`. */
function extend(list: StarlarkList, more: Value, at: number, t: Thread): Value {
  t.at = at;
  if (!isIterable(more)) return binary("+", list, more, t);
  list.checkMutable("apply += to");
  const items = more instanceof StarlarkList || more instanceof StarlarkTuple ? more.items : toItems(more, t);
  t.charge(elementWeight * items.length);
  t.step(items.length >> 3);
  list.extend(items);
  return list;
}

export function andEvaluator(left: Evaluator, right: Evaluator): Evaluator {
  return (r, t) => {
    const x = left(r, t);
    return truth(x) ? right(r, t) : x;
  };
}

export function orEvaluator(left: Evaluator, right: Evaluator): Evaluator {
  return (r, t) => {
    const x = left(r, t);
    return truth(x) ? x : right(r, t);
  };
}

/** Creates a function when its `def` or `lambda` is evaluated. */
export function functionEvaluator(
  code: Code,
  defaults: readonly (Evaluator | undefined)[],
  captures: readonly ((r: Registers) => Cell)[],
): Evaluator {
  return (r, t) => {
    t.charge(120 + 8 * (defaults.length + 3 * captures.length));
    const values = defaults.map((evaluate) => evaluate?.(r, t));
    const cells = captures.map((capture) => capture(r));
    return new FunctionValue(code, (r[0] as FunctionValue).module, values, cells);
  };
}

/** Creates the empty list or dict of a comprehension. */
export function newContainerInstruction(
  register: number,
  dict: boolean,
  at: number,
  next: number,
): Instruction {
  return (r, t) => {
    t.at = at;
    t.charge(dict ? tableWeight : listWeight(0));
    r[register] = dict ? new StarlarkDict() : new StarlarkList([]);
    return next;
  };
}

export function appendInstruction(
  register: number,
  element: Evaluator,
  at: number,
  next: number,
): Instruction {
  return (r, t) => {
    const value = element(r, t);
    t.at = at;
    const { items } = r[register] as StarlarkList;
    t.chargeElement(items.length);
    items.push(value);
    return next;
  };
}

export function addEntryInstruction(
  register: number,
  key: Evaluator,
  value: Evaluator,
  at: number,
  next: number,
): Instruction {
  return (r, t) => {
    const x = key(r, t);
    const y = value(r, t);
    addEntry(r[register] as StarlarkDict, x, y, at, t);
    return next;
  };
}

/** Loads a module from the host. */
export function loadInstruction(name: string, site: CallSite): Instruction {
  return (r, t) => {
    t.at = site.at;
    const { load } = t.options;
    if (load === undefined) throw new StarlarkError("load not implemented by this application");
    const loaded = inContext(() => load(name, t), name);
    if (loaded instanceof Promise) {
      const settled = loaded.catch((error: unknown) => {
        throw cannotLoad(name, error);
      });
      return defer(t, new Pending(settled), site);
    }
    r[site.destination] = loaded;
    return site.next;
  };
}

function inContext<T>(load: () => T, name: string): T {
  try {
    return load();
  } catch (error) {
    throw cannotLoad(name, error);
  }
}

function cannotLoad(name: string, error: unknown): StarlarkError {
  const message = error instanceof Error ? error.message : String(error);
  const kind = error instanceof StarlarkError ? error.kind : "error";
  return new StarlarkError(`cannot load ${name}: ${message}`, { cause: error, kind });
}

/** Reads a member of a loaded module. */
export function memberEvaluator(register: number, moduleName: string, name: string, at: number): Evaluator {
  return (r, t) => {
    const module = r[register];
    t.at = at;
    if (!(module instanceof StarlarkModule)) throw new StarlarkError(`load: ${moduleName} is not a module`);
    const value = module.attribute(name);
    if (value !== undefined) return value;
    const near = nearestSpelling(name, module.attributeNames());
    const suggestion = near === undefined ? "" : ` (did you mean ${near}?)`;
    throw new StarlarkError(`load: name ${name} not found in module ${moduleName}${suggestion}`);
  };
}

/** Continues at `next` if an `except` clause catches the error, otherwise at `otherwise`. */
export function matchErrorInstruction(
  register: number,
  types: readonly string[] | undefined,
  next: number,
  otherwise: number,
): Instruction {
  // Every error is an `Error`; only an error that a tool reported is a `ToolError`.
  const all = types === undefined || types.includes("Error");
  return (r) => {
    if (all) return next;
    const { error } = r[register] as ErrorValue;
    return error.kind === "tool_error" ? next : otherwise;
  };
}

/** Raises a caught error again. */
export function raiseAgainInstruction(register: number): Instruction {
  return (r) => {
    throw (r[register] as ErrorValue).error;
  };
}

/** Enters a `finally` body that continues at `after`. */
export function enterFinallyInstruction(
  completion: number,
  after: number,
  finallyStart: number,
): Instruction {
  return (r) => {
    r[completion] = after;
    return finallyStart;
  };
}

/** End a `finally` body: continue as the completion register says. */
export function endFinallyInstruction(completion: number): Instruction {
  return (r) => {
    const after = r[completion];
    if (typeof after === "number") return after;
    throw (after as ErrorValue).error;
  };
}
