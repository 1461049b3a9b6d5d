/**
 * Assertions for the programs of the test suites, which count them. The module
 * `assert` of go.starlark.net records a failure and continues; the functions of the
 * bazelbuild suite end the program.
 */

import { positionAt } from "@toolcrib/diagnostics";
import {
  type Builtin,
  builtin,
  callFunction,
  compare,
  contains,
  equals,
  freeze,
  Pending,
  repr,
  StarlarkError,
  StarlarkFloat,
  StarlarkModule,
  str,
  Thread,
  truth,
  type Value,
} from "@toolcrib/starlark";

/** A failed assertion. */
export interface AssertionFailure {
  readonly line: number;
  readonly message: string;
}

/** The number of assertions in a run, and their failures. */
export class AssertionLog {
  count = 0;
  readonly failures: AssertionFailure[] = [];
}

/** The line of the calling program. */
function callingLine(thread: Thread): number {
  const source = thread.frame?.code.source;
  return source === undefined ? 0 : positionAt(source.text, thread.at).lineNumber;
}

/**
 * Returns the message with which a call fails; `undefined` if it does not fail. The
 * call has its own thread, so that reaching a limit ends nothing else.
 */
async function messageOf(thread: Thread, callee: Value): Promise<string | undefined> {
  const own = new Thread(thread.host, thread.options);
  own.methods = thread.methods;
  try {
    await callFunction(own, callee);
    return undefined;
  } catch (error) {
    if (error instanceof StarlarkError) return error.message;
    throw error;
  }
}

/**
 * The result of `load("assert.star", …)`: the module `assert`, and `freeze`. A
 * failure is added to `log`, and the program continues.
 */
export function assertModule(log: AssertionLog): StarlarkModule {
  function note(thread: Thread, message: string | undefined, line = callingLine(thread)): null {
    log.count += 1;
    if (message !== undefined) log.failures.push({ line, message });
    return null;
  }

  const members: Builtin[] = [
    builtin("eq(x, y)", "", (t, _self, x, y) => {
      const same = equals(x, y, t) || isWithinOneUlp(x, y);
      return note(t, same ? undefined : `${repr(x, t)} != ${repr(y, t)}`);
    }),
    builtin("ne(x, y)", "", (t, _self, x, y) => {
      return note(t, equals(x, y, t) ? `${repr(x, t)} == ${repr(y, t)}` : undefined);
    }),
    builtin("true(cond, msg?)", "", (t, _self, condition, message: Value | undefined) => {
      if (truth(condition)) return note(t, undefined);
      return note(t, message === undefined ? "assertion failed" : str(message, t));
    }),
    builtin("lt(x, y)", "", (t, _self, x, y) => {
      return note(t, compare(x, y, t, "<") < 0 ? undefined : `${str(x, t)} is not less than ${str(y, t)}`);
    }),
    builtin("contains(x, y)", "", (t, _self, x, y) => {
      return note(t, contains(y, x, t) ? undefined : `${str(x, t)} does not contain ${str(y, t)}`);
    }),
    builtin("fail(msg)", "", (t, _self, message) => note(t, str(message, t))),
    builtin(
      "fails(f, pattern)",
      "",
      (t, _self, callee, pattern) => {
        const line = callingLine(t);
        return new Pending(
          messageOf(t, callee).then((message) => {
            const wanted = str(pattern, t);
            if (message === undefined) return note(t, `success; want an error that matches ${wanted}`, line);
            const matches = new RegExp(wanted, "s").test(message);
            return note(t, matches ? undefined : `error "${message}" does not match ${wanted}`, line);
          }),
        );
      },
      { defers: true },
    ),
  ];
  const assert = new StarlarkModule(
    "assert",
    new Map(members.map((member): [string, Value] => [member.name, member])),
  );
  const freezing = builtin("freeze(x)", "", (_t, _self, value) => {
    freeze(value);
    return value;
  });
  return new StarlarkModule(
    "assert.star",
    new Map<string, Value>([
      ["assert", assert],
      ["freeze", freezing],
    ]),
  );
}

/** `assert_eq`, `assert_ne` and `assert_`. A failure ends the program. */
export function fatalAssertions(log: AssertionLog): ReadonlyMap<string, Value> {
  function note(thread: Thread, message: string | undefined): null {
    log.count += 1;
    if (message === undefined) return null;
    log.failures.push({ line: callingLine(thread), message });
    throw new StarlarkError(message);
  }
  const members: Builtin[] = [
    builtin("assert_eq(x, y)", "", (t, _self, x, y) => {
      return note(t, equals(x, y, t) ? undefined : `${repr(x, t)} != ${repr(y, t)}`);
    }),
    builtin("assert_ne(x, y)", "", (t, _self, x, y) => {
      return note(t, equals(x, y, t) ? `${repr(x, t)} == ${repr(y, t)}` : undefined);
    }),
    builtin("assert_(cond, msg?)", "", (t, _self, condition, message: Value | undefined) => {
      if (truth(condition)) return note(t, undefined);
      return note(t, message === undefined ? "assertion failed" : str(message, t));
    }),
  ];
  return new Map(members.map((member): [string, Value] => [member.name, member]));
}

/** Whether `x` and `y` are numbers, at least one a float, without another double between them. */
function isWithinOneUlp(x: Value, y: Value): boolean {
  if (!(x instanceof StarlarkFloat) && !(y instanceof StarlarkFloat)) return false;
  const a = toDouble(x);
  const b = toDouble(y);
  if (a === undefined || b === undefined) return false;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  const distance = bitsOf(a) - bitsOf(b);
  return distance >= -1n && distance <= 1n;
}

function toDouble(value: Value): number | undefined {
  if (value instanceof StarlarkFloat) return value.value;
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

function bitsOf(x: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  return view.getBigUint64(0);
}
