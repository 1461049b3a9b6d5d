/**
 * Calls: binding arguments to parameters, entering and leaving functions of the
 * program, and calling builtins.
 */

import { type CallSite, type Code, leaveMachine, type Registers, switchFrame } from "../compile/code.ts";
import { BoundMethod, Builtin } from "../library/builtin.ts";
import { nearestSpelling } from "../resolve/spelling.ts";
import { Cell, FunctionValue } from "../value/function-value.ts";
import { dictEntryWeight, tupleWeight } from "../value/heap-weight.ts";
import { dictSet, newDict } from "../value/table.ts";
import { typeOf } from "../value/type-of.ts";
import { Deferred, HostObject, type NamedArgument, StarlarkTuple, type Value } from "../value/value.ts";
import { Continuation, ParallelCalls, Pending } from "./deferred.ts";
import { Frame } from "./frame.ts";
import { Interruption } from "./long-work.ts";
import { StarlarkError } from "./starlark-error.ts";
import type { Thread } from "./thread.ts";

/** An empty list of named arguments. */
export const noneNamed: readonly NamedArgument[] = [];

/**
 * Calls any value from the innermost frame. The result is stored in the register that
 * `site` names.
 *
 * @returns the instruction to continue at, if the result is available immediately;
 *   otherwise a signal.
 */
export function callValue(
  t: Thread,
  callee: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
  site: CallSite,
): number {
  t.at = site.at;
  if (callee instanceof FunctionValue) {
    if (named.length > 0 || args.length !== callee.code.plainArity) {
      return enter(t, callee.code, bindArguments(callee, args, named, t), site);
    }
    const registers = newRegisters(callee, callee.code.registerCount);
    for (let index = 0; index < args.length; index += 1) registers[index + 1] = args[index];
    return callPlain(t, callee, registers, site);
  }
  const result = callBuiltin(t, callee, args, named);
  if (result instanceof Deferred) return defer(t, result, site);
  t.frame!.registers[site.destination] = result;
  return site.next;
}

/** Creates the registers for a call of `callee`, all of them unassigned. */
export function newRegisters(callee: FunctionValue, count: number): Registers {
  const registers: Registers = new Array(count);
  registers[0] = callee;
  return registers;
}

/**
 * Calls a function whose parameters are plain and bound. A function that is a single
 * expression is evaluated immediately: it calls nothing and cannot be suspended, so
 * it needs a frame only if it fails.
 */
export function callPlain(t: Thread, callee: FunctionValue, registers: Registers, site: CallSite): number {
  const { code } = callee;
  const { body } = code;
  if (body === undefined || t.fuel < code.weight || t.depth >= t.limits.depth) {
    return enter(t, code, registers, site);
  }
  const caller = t.frame!;
  t.fuel -= code.weight;
  t.heldRegisters = registers;
  try {
    caller.registers[site.destination] = body(registers, t);
  } catch (error) {
    // In a frame of its own, the function can wait for long work.
    if (error instanceof Interruption) return enter(t, code, registers, site);
    caller.pc = site.next;
    caller.site = site;
    t.depth += 1;
    t.frame = new Frame(code, registers, caller);
    throw error;
  } finally {
    t.heldRegisters = undefined;
  }
  return site.next;
}

/** Enters a function whose arguments are bound. */
export function enter(t: Thread, code: Code, registers: Registers, site: CallSite): number {
  const caller = t.frame!;
  caller.pc = site.next;
  caller.site = site;
  t.at = site.at;
  if (!code.mayRecurse) refuseRecursion(caller, code);
  if (t.depth >= t.limits.depth) throw overflow(t);
  t.depth += 1;
  t.frame = new Frame(code, registers, caller);
  t.fuel -= code.weight;
  if (t.fuel < 0) {
    t.refuel();
    if (t.yieldDue) return leaveMachine;
  }
  return switchFrame;
}

function overflow(t: Thread): StarlarkError {
  return new StarlarkError(`Starlark stack overflow: the limit is ${t.limits.depth} nested calls`, {
    kind: "resource",
  });
}

/** @throws {StarlarkError} if `code` is already running: the core language has no recursion. */
function refuseRecursion(frame: Frame, code: Code): void {
  for (let outer: Frame | undefined = frame; outer !== undefined; outer = outer.caller) {
    if (outer.code === code) throw new StarlarkError(`function ${code.name} called recursively`);
  }
}

/** Returns `value` to the calling frame, which becomes the innermost one. */
export function leave(t: Thread, value: Value): number {
  const frame = t.frame!;
  const { caller } = frame;
  t.depth -= 1;
  t.frame = caller;
  if (caller === undefined) {
    t.result = value;
    return leaveMachine;
  }
  caller.registers[caller.site.destination] = value;
  return switchFrame;
}

/** Calls a builtin, a bound method or a host object. */
export function callBuiltin(
  t: Thread,
  callee: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): Value | Deferred {
  if (callee instanceof BoundMethod) return invoke(t, callee.method, callee.receiver, args, named);
  if (callee instanceof Builtin) return invoke(t, callee, null, args, named);
  if (callee instanceof HostObject && callee.call !== undefined) return callee.call(t, args, named);
  throw new StarlarkError(`invalid call of non-function (${typeOf(callee)})`);
}

/** Calls the builtin `method` on `self` (`null` for a function) and binds its arguments by its signature. */
export function invoke(
  t: Thread,
  method: Builtin,
  self: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): Value | Deferred {
  const result = invokeBound(t, method, self, args, named);
  if (result instanceof Continuation) result.name = method.name;
  return result;
}

function invokeBound(
  t: Thread,
  method: Builtin,
  self: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): Value | Deferred {
  if (method.variadic !== undefined) return method.variadic(t, self, args, named);
  if (named.length === 0 && args.length >= method.required && args.length <= method.parameters.length) {
    return method.invoke(t, self, ...args);
  }
  return method.invoke(t, self, ...bindBuiltin(method, args, named));
}

function bindBuiltin(method: Builtin, args: readonly Value[], named: readonly NamedArgument[]): Value[] {
  const { name, parameters, required, positionalOnly } = method;
  const allPositional = positionalOnly >= parameters.length;
  if (allPositional && named.length > 0) throw new StarlarkError(`${name}: unexpected keyword arguments`);
  if (args.length > parameters.length) throw wrongCount(method, args.length, "at most", parameters.length);
  const bound: (Value | undefined)[] = [...args];
  for (const [parameter, value] of named) {
    const index = parameters.indexOf(parameter, positionalOnly);
    if (index === -1) {
      const near = nearestSpelling(parameter, parameters.slice(positionalOnly));
      const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
      throw new StarlarkError(`${name}: unexpected keyword argument ${parameter}${hint}`);
    }
    if (bound[index] !== undefined) {
      throw new StarlarkError(`${name}: got multiple values for keyword argument ${parameter}`);
    }
    bound[index] = value;
  }
  for (let index = 0; index < required; index += 1) {
    if (bound[index] !== undefined) continue;
    if (allPositional) throw wrongCount(method, args.length, "at least", required);
    throw new StarlarkError(`${name}: missing argument for ${parameters[index]}`);
  }
  // Absent arguments are passed as undefined; each implementation applies its own defaults.
  return bound as Value[];
}

function wrongCount(method: Builtin, given: number, bound: string, wanted: number): StarlarkError {
  const exact = method.required === method.parameters.length;
  return new StarlarkError(
    `${method.name}: got ${given} arguments, want ${exact ? "" : `${bound} `}${wanted}`,
  );
}

/** Creates a frame that calls `callee` and returns its result: the outermost frame of a call from the host. */
export function openingFrame(callee: Value, args: readonly Value[], named: readonly NamedArgument[]): Frame {
  const code: Code = {
    ...continuationCode,
    instructions: [
      (_registers, t) => callValue(t, callee, args, named, leaveSite),
      (registers, t) => leave(t, registers[answerRegister] as Value),
    ],
  };
  return new Frame(code, [undefined, callee, ...args], undefined);
}

/** Continues with a result that is not available yet. */
export function defer(t: Thread, deferred: Deferred, site: CallSite): number {
  const frame = t.frame!;
  frame.pc = site.next;
  frame.site = site;
  if (deferred instanceof Continuation) {
    if (t.depth >= t.limits.depth) throw overflow(t);
    t.depth += 1;
    t.frame = new Frame(continuationCode, [undefined, null], frame, deferred);
    return switchFrame;
  }
  if (deferred instanceof Pending || deferred instanceof ParallelCalls) {
    t.waitFor = deferred;
    return leaveMachine;
  }
  throw new Error("a builtin returned a deferred result of an unknown kind");
}

/** The result of the last call that a continuation requested. */
const answerRegister = 1;

/** Resumes the continuation of the innermost frame with the result in its register. */
function stepContinuation(registers: Registers, t: Thread): number {
  const { body } = t.frame!.continuation!;
  return advanceContinuation(t, body.next(registers[answerRegister] as Value));
}

/** Executes the request of a continuation, or leaves it with its result. */
export function advanceContinuation(
  t: Thread,
  step: IteratorResult<
    { callee: Value; args: readonly Value[]; named?: readonly NamedArgument[] },
    Value | Deferred
  >,
): number {
  if (step.done !== true) {
    const { callee, args, named = noneNamed } = step.value;
    // The memory charged by the last call may be unreachable by now, so this counts as a step of the
    // program and not of the builtin.
    t.fuel -= 1;
    if (t.fuel < 0) t.refuel();
    return callValue(t, callee, args, named, continueSite);
  }
  const result = step.value;
  if (!(result instanceof Deferred)) return leave(t, result);
  // A deferred result that the continuation returns becomes its own result.
  return defer(t, result, leaveSite);
}

/** Calls from a continuation have no position in a source. */
const continueSite: CallSite = { pc: 0, next: 0, destination: answerRegister, at: -1 };
const leaveSite: CallSite = { pc: 1, next: 1, destination: answerRegister, at: -1 };

/** The code of every builtin that calls functions. */
const continuationCode: Code = {
  name: "<builtin>",
  source: { name: "<builtin>", text: "" },
  start: 0,
  instructions: [stepContinuation, (registers, t) => leave(t, registers[answerRegister] as Value)],
  handlers: [],
  registerCount: 2,
  iteratorRegisters: [],
  weight: 1,
  parameters: [],
  positionalCount: 0,
  keywordOnlyCount: 0,
  hasVarargs: false,
  hasKwargs: false,
  plainArity: -1,
  body: undefined,
  capturedParameters: [],
  cellRegisters: [],
  mayRecurse: true,
};

/**
 * Creates the registers for a call of `callee`, with every parameter bound.
 *
 * @throws {StarlarkError} if the arguments do not match the parameters.
 */
export function bindArguments(
  callee: FunctionValue,
  args: readonly Value[],
  named: readonly NamedArgument[],
  t: Thread,
): Registers {
  const { code } = callee;
  const registers = newRegisters(callee, code.registerCount);
  const { positionalCount } = code;
  const ordinaryCount = positionalCount + code.keywordOnlyCount;
  if (ordinaryCount === 0 && !code.hasVarargs && !code.hasKwargs) {
    const given = args.length + named.length;
    if (given > 0) throw new StarlarkError(`function ${code.name} accepts no arguments (${given} given)`);
  }
  const filled = Math.min(args.length, positionalCount);
  for (let index = 0; index < filled; index += 1) registers[index + 1] = args[index];
  if (code.hasVarargs) {
    t.charge(tupleWeight(args.length - filled));
    registers[ordinaryCount + 1] = new StarlarkTuple(args.slice(filled));
  } else if (args.length > filled) {
    throw tooManyPositional(callee, args.length);
  }
  bindNamed(callee, named, registers, ordinaryCount, t);
  bindDefaults(callee, registers, ordinaryCount);
  makeCells(code, registers);
  return registers;
}

function tooManyPositional({ code, defaults }: FunctionValue, given: number): StarlarkError {
  const count = code.positionalCount;
  const atMost = defaults.length > code.keywordOnlyCount ? "at most " : "";
  return new StarlarkError(
    `function ${code.name} accepts ${atMost}${count} positional argument${count === 1 ? "" : "s"} (${given} given)`,
  );
}

function bindNamed(
  { code }: FunctionValue,
  named: readonly NamedArgument[],
  registers: Registers,
  ordinaryCount: number,
  t: Thread,
): void {
  const rest = code.hasKwargs ? newDict(t) : undefined;
  if (rest !== undefined) registers[ordinaryCount + (code.hasVarargs ? 2 : 1)] = rest;
  for (const [name, value] of named) {
    const index = code.parameters.indexOf(name);
    if (index !== -1 && index < ordinaryCount) {
      if (registers[index + 1] !== undefined) throw multipleValues(code, name);
      registers[index + 1] = value;
    } else if (rest !== undefined) {
      const before = rest.size;
      t.charge(dictEntryWeight);
      dictSet(rest, name, value, t);
      if (rest.size === before) throw multipleValues(code, name);
    } else {
      // The comparison of names takes time in proportion to their lengths.
      t.step(ordinaryCount * (1 + (Math.min(name.length, 100) >> 2)));
      const near = nearestSpelling(name, code.parameters.slice(0, ordinaryCount));
      const hint = near === undefined ? undefined : `did you mean ${near}?`;
      throw new StarlarkError(`function ${code.name} got an unexpected keyword argument "${name}"`, { hint });
    }
  }
}

function multipleValues(code: Code, name: string): StarlarkError {
  return new StarlarkError(`function ${code.name} got multiple values for parameter "${name}"`);
}

function bindDefaults({ code, defaults }: FunctionValue, registers: Registers, ordinaryCount: number): void {
  const firstDefault = ordinaryCount - defaults.length;
  let missing: string[] | undefined;
  for (let index = 0; index < ordinaryCount; index += 1) {
    if (registers[index + 1] !== undefined) continue;
    const value = index >= firstDefault ? defaults[index - firstDefault] : undefined;
    if (value === undefined) {
      missing ??= [];
      missing.push(code.parameters[index]!);
    } else {
      registers[index + 1] = value;
    }
  }
  if (missing === undefined) return;
  const plural = missing.length > 1 ? "s" : "";
  throw new StarlarkError(
    `function ${code.name} missing ${missing.length} argument${plural} (${missing.join(", ")})`,
  );
}

/** Moves captured parameters into cells, and creates the other cells. */
export function makeCells(code: Code, registers: Registers): void {
  for (const index of code.capturedParameters) {
    const cell = new Cell();
    cell.value = registers[index] as Value;
    registers[index] = cell;
  }
  for (const index of code.cellRegisters) registers[index] = new Cell();
}
