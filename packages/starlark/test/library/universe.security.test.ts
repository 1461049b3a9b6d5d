import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { jsonModule, type Limits, timeModule, toolDialect, type Value } from "@toolcrib/starlark";
import { fastSample, slowTest } from "@toolcrib/testing";
import { execute, type Outcome } from "../execute.ts";

const modules: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["json", jsonModule],
  ["time", timeModule],
]);

function run(text: string, limits: Partial<Limits> = {}): Promise<Outcome> {
  return execute({ name: "hostile.star", text }, { dialect: toolDialect, predeclared: modules, limits });
}

/** The kind and the message of the error with which `text` ends. */
async function failureOf(text: string, limits: Partial<Limits> = {}): Promise<string> {
  const outcome = await run(text, limits);
  if (outcome.kind !== "failed") throw new Error(`${text}: ${outcome.kind}`);
  return `${outcome.error.kind}: ${outcome.error.message}`;
}

suite("results of builtins are charged before they are made", () => {
  const huge = [
    "list(range(1 << 40))",
    "tuple(range(1 << 40))",
    "reversed(range(1 << 40))",
    "enumerate(range(1 << 40))",
    "sorted(range(1 << 40))",
    "sorted(range(1 << 40), key=lambda x: x)",
    "[].extend(range(1 << 40))",
    "json.encode(['x' * 100000] * 1000000)",
    "json.indent('[' * 900 + ']' * 900, indent='x' * 1000000)",
    "json.encode_indent([[1]] * 10000, prefix='x' * 1000000)",
    "json.decode('[' + '[],' * 1000000 + '1]')",
  ];
  for (const expression of fastSample(huge)) {
    test(`${expression} runs out of memory`, async () => {
      assert.match(await failureOf(expression, { memoryBytes: 1 << 25 }), /^resource: out of memory/);
    });
  }

  const endless = [
    "zip(range(1 << 40), range(1 << 40))",
    "set(range(1 << 40))",
    "dict(zip(range(1000000), range(1000000)))",
    "sum([[1]] * 100000, [])",
  ];
  for (const expression of fastSample(endless)) {
    test(`${expression} ends at a limit`, async () => {
      assert.match(await failureOf(expression, { memoryBytes: 1 << 25 }), /^resource: /);
    });
  }

  test("encoding a value with many references to one object ends at a limit", slowTest, async () => {
    const text = "x = ['a' * 100]\nfor _ in range(60): x = [x, x]\njson.encode(x)";
    assert.match(await failureOf(text, { memoryBytes: 1 << 25 }), /^resource: /);
  });
});

suite("work in a builtin counts as steps", () => {
  const long = [
    "any([0] * 1000000)",
    "all(range(1, 1 << 40))",
    "max(range(1 << 40))",
    "min(range(1 << 40), key=abs)",
    "sum(range(1 << 40))",
  ];
  for (const text of long) {
    test(`${text} runs out of steps`, async () => {
      assert.match(await failureOf(text, { steps: 200_000 }), /^resource: out of steps/);
    });
  }

  /** The steps of an expression, without those for creating its operands. */
  async function stepsOf(preparation: string, expression: string): Promise<number> {
    const steps: number[] = [];
    for (const text of [preparation, `${preparation}\n${expression}`]) {
      const outcome = await run(text, { steps: 1_000_000_000, memoryBytes: 1 << 30 });
      if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
      steps.push(outcome.thread.steps);
    }
    return steps[1]! - steps[0]!;
  }

  test("sorting takes steps in proportion to n log n for any elements", async () => {
    for (const element of ["i", "str(i)", "[i]", "i * 0.5", "i + (1 << 70)"]) {
      const preparation = `xs = [${element} for i in [x * 7919 % 4096 for x in range(4096)]]`;
      const steps = await stepsOf(preparation, "sorted(xs)");
      assert.ok(steps >= 4096 * 3 && steps <= 4096 * 12 * 8, `${element}: ${steps}`);
    }
  });

  test("sorting long strings takes steps for their lengths", async () => {
    const preparation = 'a = "x" * 100000\nxs = [a + "1", a + "2"] * 512';
    const steps = await stepsOf(preparation, "sorted(xs)");
    assert.ok(steps >= (1024 * 100_000) / 64, String(steps));
  });

  test("every comparison of long strings takes steps for their lengths", async () => {
    const preparation =
      'a = "x" * 100000\nb = a[:50000] + a[50000:] + "1"\nxs = [a + "1"] * 64\nys = [a + "1"] * 64';
    for (const expression of [
      "max(xs + [b])",
      "min(xs, key=lambda x: b)",
      "xs == ys",
      "b in ys",
      "xs.index(b)",
      "[xs] < [ys]",
      '{"x": b} == {"x": xs[0]}',
    ]) {
      const steps = await stepsOf(preparation, expression);
      assert.ok(steps >= 100_000 / 128, `${expression}: ${steps}`);
    }
  });

  test("removing the first element of a list takes steps for the elements that move", async () => {
    const few = await stepsOf("xs = list(range(100))", "for _ in range(50): xs.pop(0)");
    const many = await stepsOf("xs = list(range(100000))", "for _ in range(50): xs.pop(0)");
    assert.ok(many > few + (50 * 100_000) / 100, `${few} and ${many}`);
  });

  test("decoding JSON takes steps for the text", async () => {
    const steps = await stepsOf("t = '[' + '1,' * 100000 + '1]'", "json.decode(t)");
    assert.ok(steps >= 100_000, String(steps));
  });
});

suite("programs cannot catch limits", () => {
  const limited: [text: string, limits: Partial<Limits>][] = [
    ["def f():\n  while True: pass\nattempt(f)", { steps: 10_000 }],
    ["attempt(lambda: list(range(1 << 40)))", {}],
    ["def f(): f()\nattempt(f)", {}],
    ["attempt(lambda: attempt(lambda: list(range(1 << 40))))", {}],
    ["attempt(sorted, range(1 << 40))", {}],
    ["json.decode('[1' + ',1' * 10000000, default=None)", { memoryBytes: 1 << 24 }],
  ];
  for (const [text, limits] of limited) {
    test(text, async () => assert.match(await failureOf(text, limits), /^resource: /));
  }
});

suite("no value gives access to JavaScript", () => {
  const names = ["__proto__", "constructor", "prototype", "toString", "__defineGetter__", "valueOf"];
  const values = [
    "{}",
    "[]",
    '""',
    "1",
    "len",
    "[].append",
    "struct()",
    "json",
    "time.now()",
    "time.hour",
    "range(1)",
  ];
  for (const value of values) {
    test(`getattr(${value}, name) finds no property of an object`, async () => {
      for (const name of names) {
        const outcome = await run(
          `x = ${value}\nreturn json.encode([hasattr(x, "${name}"), getattr(x, "${name}", None), "${name}" in dir(x)])`,
        );
        assert.equal(outcome.kind === "done" ? outcome.value : outcome.kind, "[false,null,false]");
      }
    });
  }

  test("JSON keys can have any name", async () => {
    const outcome = await run(
      `d = json.decode('{"__proto__": {"x": 1}, "constructor": 2}')\nreturn json.encode([d, d.get("x"), getattr(d, "x", None), {}.get("x")])`,
    );
    assert.equal(
      outcome.kind === "done" ? outcome.value : outcome.kind,
      '[{"__proto__":{"x":1},"constructor":2},null,null,null]',
    );
  });
});
