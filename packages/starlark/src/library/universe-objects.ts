/**
 * The builtins for values of any kind: `dict`, `dir`, `getattr`, `hasattr`, `struct`,
 * and `attempt`, which calls a function and returns its error as a value.
 */

import { Continuation, type ContinuationBody } from "../run/deferred.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { attributeNames, attributeOf, fieldOf, methodsOf } from "../value/attributes.ts";
import { ErrorValue } from "../value/error-value.ts";
import { hashKey } from "../value/hash-key.ts";
import { listWeight } from "../value/heap-weight.ts";
import { quote } from "../value/repr.ts";
import { newDict } from "../value/table.ts";
import {
  type NamedArgument,
  StarlarkDict,
  StarlarkList,
  StarlarkStruct,
  type Value,
} from "../value/value.ts";
import { wantCallable, wantString } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { updateFromArguments } from "./dict-methods.ts";
import { prefixError } from "./prefix-error.ts";

function dict(
  thread: Thread,
  _self: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): StarlarkDict {
  const made = newDict(thread);
  updateFromArguments("dict", made, args, named, thread);
  return made;
}

function dir(thread: Thread, _self: Value, x: Value): StarlarkList {
  const names = attributeNames(x, thread);
  thread.charge(listWeight(names.length));
  thread.step(names.length);
  return new StarlarkList([...names]);
}

/** Whether `x.name` has a value. */
function has(x: Value, name: string, dataFirst: boolean, thread: Thread): boolean {
  if (dataFirst && x instanceof StarlarkDict && x.entries.has(hashKey(name, thread))) return true;
  return fieldOf(x, name, thread) !== undefined || methodsOf(x, thread.methods).has(name);
}

/** `getattr` and `hasattr`; with `dataFirst`, a key of a dict takes precedence over a method. */
function attributeBuiltins(dataFirst: boolean): readonly Builtin[] {
  return [
    builtin(
      "getattr(x, name, default?, /)",
      'The attribute of `x` with this name. If there is none, the result is `default`, or an error without `default`. `getattr("abc", "missing", 0)` gives `0`',
      (thread, _self, x, nameArgument, fallback) => {
        const name = wantString("getattr", 2, nameArgument!);
        if (fallback !== undefined && !has(x!, name, dataFirst, thread)) return fallback;
        try {
          return attributeOf(x!, name, dataFirst, thread);
        } catch (error) {
          throw prefixError("getattr", error);
        }
      },
    ),
    builtin(
      "hasattr(x, name, /)",
      'Whether `x` has an attribute or method with this name. `hasattr("abc", "upper")` gives `True`',
      (thread, _self, x, name) => has(x!, wantString("hasattr", 2, name!), dataFirst, thread),
    ),
  ];
}

function makeStruct(thread: Thread, fields: readonly NamedArgument[]): StarlarkStruct {
  thread.charge(150 + 50 * fields.length);
  thread.step(fields.length);
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return new StarlarkStruct("struct", new Map(sorted));
}

function struct(
  thread: Thread,
  _self: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
): StarlarkStruct {
  if (args.length > 0) throw new StarlarkError("struct: unexpected positional arguments");
  const made = makeStruct(thread, named);
  if (made.fields.size === named.length) return made;
  const met = new Set<string>();
  for (const [name] of named) {
    if (met.has(name)) throw new StarlarkError(`struct: duplicate keyword arg: ${quote(name)}`);
    met.add(name);
  }
  return made;
}

function* attemptCall(
  callee: Value,
  args: readonly Value[],
  named: readonly NamedArgument[],
  thread: Thread,
): ContinuationBody {
  try {
    const value = yield { callee, args, named };
    return outcome(true, value, null, thread);
  } catch (error) {
    // Programs cannot catch limits, deadlines and cancellation.
    if (!(error instanceof StarlarkError) || !error.catchable) throw error;
    const caught = new ErrorValue(error);
    thread.charge(caught.weight());
    return outcome(false, null, caught, thread);
  }
}

function outcome(ok: boolean, value: Value, error: Value, thread: Thread): StarlarkStruct {
  return makeStruct(thread, [
    ["ok", ok],
    ["value", value],
    ["error", error],
  ]);
}

export const objectBuiltins: readonly Builtin[] = [
  builtin(
    "dict(pairs?, /, **kwargs)",
    'A new dict with the entries of another dict or of an iterable of pairs, and with the named arguments. `dict([("a", 1)], b=2)` gives `{"a": 1, "b": 2}`',
    dict,
  ),
  builtin(
    "dir(x, /)",
    'A new list of the names of all attributes and methods of `x`, sorted. `dir(struct(b=1, a=2))` gives `["a", "b"]`',
    dir,
  ),
  ...attributeBuiltins(false),
];

/** `getattr` and `hasattr` of the tool dialect, in which `x.name` reads a key of a dict. */
export const dataAttributeBuiltins: readonly Builtin[] = attributeBuiltins(true);

/** `struct`, which hosts can predeclare. */
export const structBuiltin: Builtin = builtin(
  "struct(**kwargs)",
  "An immutable record with the given fields. `struct(x=1, y=2).y` gives `2`",
  struct,
);

/** `attempt`, which is not in the core language. */
export const attemptBuiltin: Builtin = builtin(
  "attempt(fn, *args, **kwargs)",
  'Calls `fn` with the other arguments. The result is a struct: `ok` says whether it returned, `value` is its result, and `error` is its error (`type`, `message`, `tool` and `details`). Limits cannot be caught. `attempt(int, "x").ok` gives `False`',
  (thread, _self, args, named) => {
    const [callee, ...rest] = args;
    if (callee === undefined) throw new StarlarkError("attempt: missing argument for fn");
    wantCallable("attempt", 1, callee);
    const roots = [callee, ...rest, ...named.map(([, value]) => value)];
    return new Continuation(attemptCall(callee, rest, named, thread), roots);
  },
  { defers: true },
);
