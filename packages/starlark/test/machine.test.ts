/** Threads and their host: waiting anywhere, fibers, slices, deadlines, cancellation, tracebacks, conversions. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  builtin,
  callFunction,
  compileProgram,
  executeProgram,
  fromStarlark,
  type Json,
  Pending,
  repr,
  StarlarkError,
  Thread,
  type ThreadHost,
  type ThreadOptions,
  toolDialect,
  toStarlark,
  type Value,
} from "@toolcrib/starlark";

const host: ThreadHost = {
  monotonicMs: () => performance.now(),
  nextTurn: () => nextTurn(),
  startTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** `wait(x)`: returns x after a turn of the event loop. */
const wait = builtin(
  "wait(x, /)",
  "Gives its argument, later.",
  (_thread, _self, x) => new Pending(nextTurn(x)),
  { defers: true },
);

/** `never()`: never returns. */
const never = builtin("never()", "Waits.", () => new Pending(new Promise<Value>(() => {})), { defers: true });

interface Run {
  readonly thread: Thread;
  readonly logs: readonly string[];
  readonly value: Promise<Value>;
}

function start(
  text: string,
  options: ThreadOptions = {},
  extra: readonly (readonly [string, Value])[] = [],
): Run {
  const predeclared = new Map<string, Value>([["wait", wait], ["never", never], ...extra]);
  const { program, diagnostics } = compileProgram(
    { name: "test.star", text },
    { dialect: toolDialect, predeclared: predeclared.keys() },
  );
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    [],
  );
  assert(program !== undefined);
  const logs: string[] = [];
  const thread = new Thread(host, { ...options, print: (line) => logs.push(line) });
  return { thread, logs, value: executeProgram(thread, program, predeclared).then(({ value }) => value) };
}

async function check(text: string, expected: string): Promise<void> {
  const { thread, value } = start(text);
  assert.equal(repr(await value, thread), expected);
}

async function failure(run: Run): Promise<StarlarkError> {
  const error: unknown = await run.value.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert(error instanceof StarlarkError, `it failed with ${String(error)}`);
  return error;
}

describe("a program waits for its host", () => {
  const places: readonly (readonly [place: string, text: string, expected: string])[] = [
    ["an expression", "return 1 + wait(2) * wait(3)", "7"],
    ["an argument", "return [wait(1), len([wait(2), 3])]", "[1, 2]"],
    ["a lambda", "return (lambda x: wait(x) + 1)(1)", "2"],
    ["a comprehension", "return [wait(x) for x in range(5) if wait(x) % 2 == 0]", "[0, 2, 4]"],
    ["a dict comprehension", "return {wait(k): wait(k * k) for k in [1, 2]}", "{1: 1, 2: 4}"],
    ["a sort key", "return sorted([3, 1, 2], key = lambda x: wait(-x))", "[3, 2, 1]"],
    ["max with a key", "return max([3, 1, 2], key = lambda x: wait(-x))", "1"],
    ["a default", "def f(x = wait(4)):\n    return x\nreturn f()", "4"],
    ["a condition", "return 'yes' if wait(True) and not wait(False) else 'no'", '"yes"'],
    ["the right of or", "return wait(0) or wait('x')", '"x"'],
    ["an index", "x = [1, 2, 3]\nx[wait(1)] += wait(10)\nreturn x", "[1, 12, 3]"],
    ["an f-string", "return f'{wait(1)}-{wait(2)!r:>3}'", '"1-  2"'],
    ["a loop's iterable", "n = 0\nfor i in wait([1, 2, 3]):\n    n += wait(i)\nreturn n", "6"],
    [
      "try",
      "try:\n    x = wait([])[wait(1)]\nexcept Error as e:\n    x = wait(e.message)\nreturn x",
      '"index 1 out of range: empty list"',
    ],
    ["attempt", "return attempt(lambda: wait(1)).value", "1"],
    [
      "star arguments",
      "def f(*a, **k):\n    return (a, k)\nreturn f(*wait([1]), **wait({'b': 2}))",
      '((1,), {"b": 2})',
    ],
    ["nested calls", "def f(n):\n    return wait(n) if n == 0 else f(n - 1) + wait(1)\nreturn f(20)", "20"],
  ];
  for (const [place, text, expected] of places) {
    test(`in ${place}`, () => check(text, expected));
  }

  test("keeps values that it evaluated before it waits", () =>
    check(
      "x = [1]\ndef grow(n):\n    x.append(wait(n))\n    return n\nreturn [len(x), grow(5), len(x), x[0] + grow(6) + len(x)]",
      "[1, 5, 2, 10]",
    ));

  test("a rejected promise is an error of the program, with its traceback", async () => {
    const fails = builtin(
      "fails()",
      "Fails.",
      () =>
        new Pending(
          Promise.reject(new StarlarkError("the server said no", { kind: "tool_error", tool: "a.b" })),
        ),
      { defers: true },
    );
    const caught = start(
      "def f():\n    return fails()\ntry:\n    f()\nexcept ToolError as e:\n    return [e.type, e.tool, e.message]",
      {},
      [["fails", fails]],
    );
    assert.equal(repr(await caught.value, caught.thread), '["ToolError", "a.b", "the server said no"]');
    const error = await failure(start("def f():\n    return 1 + fails()\n\nf()\n", {}, [["fails", fails]]));
    assert.equal(error.kind, "tool_error");
    assert.equal(
      error.traceback,
      [
        "Traceback (most recent call last):",
        "  test.star:4:2: in <toplevel>",
        "  test.star:2:21: in f",
        "Error: the server said no",
      ].join("\n"),
    );
  });
});

describe("parallel()", () => {
  test("runs functions concurrently and returns their results in order", async () => {
    const log: string[] = [];
    const slow = builtin(
      "slow(name, turns, /)",
      "Waits some turns.",
      (_thread, _self, name: Value, turns: Value) => {
        log.push(`start ${String(name)}`);
        const settle = async (): Promise<Value> => {
          for (let turn = 0; turn < Number(turns); turn += 1) await nextTurn();
          log.push(`end ${String(name)}`);
          return name;
        };
        return new Pending(settle());
      },
      { defers: true },
    );
    const { thread, value, logs } = start(
      "def one(name, turns):\n    print('begin ' + name)\n    x = slow(name, turns)\n    print('done ' + name)\n    return x\n" +
        "return parallel([lambda: one('a', 9), lambda: one('b', 1), lambda: one('c', 5)], limit = 2)",
      {},
      [["slow", slow]],
    );
    assert.equal(repr(await value, thread), '["a", "b", "c"]');
    assert.deepEqual(log, ["start a", "start b", "end b", "start c", "end c", "end a"]);
    // In the order of the list, regardless of the order of completion.
    assert.deepEqual(logs, ["begin a", "done a", "begin b", "done b", "begin c", "done c"]);
  });

  test("raises the first error of the list, and thaws captured values", () =>
    check(
      "seen = []\ndef bad(n):\n    wait(n)\n    fail('no ' + str(n))\n" +
        "r = attempt(lambda: parallel([lambda: wait(1), lambda: bad(2), lambda: bad(3)]))\n" +
        "def touch():\n    seen.append(1)\n" +
        "q = attempt(lambda: parallel([touch]))\nseen.append(2)\n" +
        "return [r.ok, r.error.message, q.error.message, seen]",
      '[False, "fail: no 2", "append: cannot append to frozen list while parallel() runs", [2]]',
    ));
});

describe("the event loop continues", () => {
  test("while a program computes, and two programs interleave", async () => {
    let turns = 0;
    let running = true;
    const ticker = (async () => {
      while (running) {
        turns += 1;
        await nextTurn();
      }
    })();
    const text =
      "n = 0\nfor i in range(400000):\n    n += i\nprint('half')\nfor i in range(400000):\n    n += i\nreturn n";
    const order: string[] = [];
    const runs = ["a", "b"].map(async (name) => {
      const run = start(text, { limits: { steps: 100_000_000, sliceMs: 1 } });
      const value = await run.value;
      order.push(name);
      return [repr(value, run.thread), run.thread.steps];
    });
    const results = await Promise.all(runs);
    running = false;
    await ticker;
    assert.deepEqual(results[0], results[1]);
    assert.equal(results[0]?.[0], "159999600000");
    assert(turns > 5, `the event loop had ${turns} turns`);
  });

  test("an endless program is ended by its deadline, its step limit or its host", async () => {
    const forever = "while True:\n    pass";
    assert.equal(
      (await failure(start(forever, { limits: { steps: 1_000_000_000_000, wallMs: 50 } }))).kind,
      "timeout",
    );
    const outOfSteps = await failure(start(forever, { limits: { steps: 100_000 } }));
    assert.equal(outOfSteps.kind, "resource");
    assert.equal(outOfSteps.stackEntries.at(-1)?.lineNumber, 1);
    const controller = new AbortController();
    const running = Promise.withResolvers<void>();
    const report = builtin("report()", "Reports that the program runs.", () => {
      running.resolve();
      return null;
    });
    const run = start(
      `report()\n${forever}`,
      { limits: { steps: 1_000_000_000_000 }, signal: controller.signal },
      [["report", report]],
    );
    await running.promise;
    controller.abort(new Error("the client is gone"));
    const cancelled = await failure(run);
    assert.deepEqual([cancelled.kind, cancelled.message], ["cancelled", "cancelled: the client is gone"]);
  });

  test("a program that waits is ended, too", async () => {
    assert.equal((await failure(start("never()", { limits: { wallMs: 30 } }))).kind, "timeout");
    const controller = new AbortController();
    const run = start("never()", { signal: controller.signal });
    await nextTurn();
    controller.abort(new Error("stop"));
    assert.equal((await failure(run)).kind, "cancelled");
    assert.equal(run.thread.signal.aborted, true);
  });

  test("except, attempt and finally do not catch limits", async () => {
    const texts = [
      "while True:\n    try:\n        while True:\n            pass\n    except Error:\n        pass",
      "while True:\n    attempt(lambda: [x for x in range(1 << 40)])",
      "def f():\n    try:\n        f()\n    finally:\n        f()\nf()",
      "x = []\nwhile True:\n    try:\n        x.append('a' * 1000000)\n    except:\n        x = x",
    ];
    for (const text of texts) {
      const error = await failure(start(text, { limits: { steps: 500_000, memoryBytes: 4_000_000 } }));
      assert.equal(error.kind, "resource", error.message);
    }
  });
});

test("a program takes the same steps and memory regardless of waits and yields", async () => {
  const text =
    "data = [{'n': i, 's': str(i) * 3} for i in range(2000)]\nprint(len(data))\n" +
    "total = 0\nfor row in data:\n    total += row['n'] if row['s'].startswith('1') else 1\n" +
    "return [total, sorted([wait(r['n']) for r in data[:50]], key = lambda n: -n)[0]]";
  const accounts = new Set<string>();
  for (const sliceMs of [1, 1, 5, 10_000]) {
    const { thread, value, logs } = start(text, { limits: { sliceMs } });
    accounts.add(JSON.stringify([repr(await value, thread), logs, thread.steps, thread.memoryBytes]));
  }
  assert.equal(accounts.size, 1, [...accounts].join("\n"));
});

test("the host can call a function of a finished program", async () => {
  const { program } = compileProgram({
    name: "lib.star",
    text: "def add(a, b = 2):\n    return a + b\nlimit = [1]\n",
  });
  assert(program !== undefined);
  const thread = new Thread(host);
  const { module } = await executeProgram(thread, program);
  const add = module.attribute("add");
  assert(add !== undefined);
  assert.equal(await callFunction(thread, add, [40]), 42);
  assert.equal(await callFunction(thread, add, [1], [["b", 5]]), 6);
  await assert.rejects(callFunction(thread, add, []), /function add missing 1 argument \(a\)/);
  await assert.rejects(callFunction(thread, 5), /invalid call of non-function \(int\)/);
});

describe("conversion of values", () => {
  const both: readonly Json[] = [
    null,
    true,
    0,
    -1,
    1.5,
    "",
    "ÿ €😀",
    [],
    [1, [2, [3]]],
    {},
    { a: { b: [null] }, "": 1 },
    9007199254740991,
    1e300,
    JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}') as Json,
  ];
  for (const data of both) {
    test(`${JSON.stringify(data)} is unchanged after conversion in both directions`, () => {
      const thread = new Thread(host);
      assert.equal(JSON.stringify(fromStarlark(toStarlark(data, thread), thread)), JSON.stringify(data));
    });
  }

  test("a value that JSON cannot represent is rejected with its path", async () => {
    const rows: readonly (readonly [string, RegExp])[] = [
      ["return {'a': [1, len]}", /cannot convert the value at a\[1\]: got builtin_function_or_method/],
      ["return {1: 2}", /cannot convert the value: a key is int, want string/],
      ["return [1e308 * 10]", /cannot convert the value at \[0\]: JSON has no Infinity/],
      ["x = []\nx.append(x)\nreturn x", /cannot convert the value at \[0\]: it contains itself/],
    ];
    for (const [text, message] of rows) {
      const { thread, value } = start(text);
      const result = await value;
      assert.throws(() => fromStarlark(result, thread), message);
    }
  });

  test("data beyond the memory limit is rejected before it is made", () => {
    const thread = new Thread(host, { limits: { memoryBytes: 1_000_000 } });
    assert.throws(() => toStarlark("x".repeat(2_000_000), thread), /out of memory/);
    assert.throws(
      () =>
        toStarlark(
          Array.from({ length: 200_000 }, () => 1),
          thread,
        ),
      /out of memory/,
    );
  });
});

test("new Thread() rejects a limit that is out of range", () => {
  for (const steps of [0, -1, 1.5, Number.NaN, 1e13]) {
    assert.throws(() => new Thread(host, { limits: { steps } }), RangeError);
  }
});
