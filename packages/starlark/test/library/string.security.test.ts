import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Limits, toolDialect, type Value } from "@toolcrib/starlark";
import { execute, type Outcome } from "../execute.ts";

function run(
  text: string,
  values: Readonly<Record<string, Value>>,
  limits: Partial<Limits> = {},
): Promise<Outcome> {
  const predeclared = new Map(Object.entries(values));
  return execute({ name: "hostile.star", text }, { dialect: toolDialect, predeclared, limits });
}

/** The number of steps of `expression`. */
async function stepsOf(expression: string, values: Readonly<Record<string, Value>>): Promise<number> {
  const outcome = await run(`result = ${expression}\n`, values, {
    steps: 1_000_000_000,
    memoryBytes: 1 << 30,
  });
  if (outcome.kind !== "done") throw new Error(`${expression}: ${JSON.stringify(outcome)}`);
  return outcome.thread.steps;
}

const size = 1 << 18;
const many = "a".repeat(size);

describe("work on strings counts as steps, which grow at most linearly", () => {
  /** Needles with partial matches everywhere, of every length. */
  const needles: [name: string, make: (length: number) => string][] = [
    ["the end differs", (length) => `${"a".repeat(length)}b`],
    ["the start differs", (length) => `b${"a".repeat(length)}`],
    ["the middle differs", (length) => `${"a".repeat(length / 2)}b${"a".repeat(length / 2)}`],
    ["two thirds in", (length) => `${"a".repeat((length * 2) / 3)}b${"a".repeat(length / 3)}`],
  ];
  const searches = [
    "h.find(n)",
    "h.rfind(n)",
    "h.count(n)",
    "h.replace(n, '')",
    "h.split(n)",
    "h.rsplit(n)",
    "n in h",
  ];
  for (const [name, make] of needles) {
    test(`searching where ${name}`, async () => {
      for (const length of [12, 48, 3000, size / 2]) {
        for (const search of searches) {
          const steps = await stepsOf(search, { h: many, n: make(length) });
          assert.ok(steps <= size, `${search} of ${length}: ${steps} steps`);
          assert.ok(steps >= size >> 7, `${search} of ${length}: ${steps} steps`);
        }
      }
    });
  }

  test("methods that read a whole string take steps for it", async () => {
    const expressions = [
      "h.upper()",
      "h.lower()",
      "h.title()",
      "h.capitalize()",
      "h.isalpha()",
      "h.islower()",
      "h.istitle()",
      "h.strip('a')",
      "h.split()",
      "h.count('')",
      "h.format()",
      "h % ()",
      "h.partition('x')",
      "h.splitlines()",
      "bytes(h)",
      "str(bytes(h))",
      '"{:>10}".format(h)',
      "h.ljust(500000)",
    ];
    for (const expression of expressions) {
      const steps = await stepsOf(expression, { h: many });
      assert.ok(steps >= size >> 6 && steps <= size, `${expression}: ${steps} steps`);
    }
  });

  test("strip() looks up a large set of characters instead of scanning it", async () => {
    const cutset = String.fromCharCode(...Array.from({ length: 20_000 }, (_, index) => 0x3400 + index));
    assert.ok((await stepsOf("(c * 10).strip(c)", { c: cutset })) < 200_000);
  });

  test("a long search ends at the step limit", async () => {
    const outcome = await run("h.find(n)\n", { h: many.repeat(16), n: `${many}b` }, { steps: 100_000 });
    assert.equal(outcome.kind === "failed" && outcome.error.kind, "resource");
  });
});

describe("strings are charged before they are made", () => {
  const limits = { memoryBytes: 1 << 20, steps: 1_000_000_000 };
  const expressions = [
    '"x".ljust(1 << 28)',
    '"x".center(1 << 28, "世")',
    '"7".zfill(1 << 28)',
    'h.replace("a", h)',
    'h.replace("", h)',
    "h.join([h] * 1000)",
    "h.join((h * 16).elems())",
    '("%s" * 100) % ((h,) * 100)',
    '("{0}" * 100).format(h)',
    '(h * 4).split("a")',
    '("a " * 200000).split()',
    '("\\n" * 400000).splitlines()',
    '(h * 8).replace("a", "世")',
    "bytes((h * 16).codepoint_ords())",
    '"x".replace("x", h * 17)',
    "[h.upper() for _ in range(100)]",
    '[h.strip("b") + "x" for _ in range(100)]',
  ];
  for (const expression of expressions) {
    test(expression, async () => {
      const outcome = await run(`result = ${expression}\n`, { h: "a".repeat(1 << 16) }, limits);
      assert.equal(outcome.kind, "failed");
      if (outcome.kind === "failed") assert.match(outcome.error.message, /^out of memory/);
    });
  }

  test("a string beyond the maximum length of JavaScript is an error of the program", async () => {
    const longest = { memoryBytes: 1 << 30, steps: 1_000_000_000 };
    for (const expression of ["(1 << 29) and 'x'.ljust(1 << 29)", "h.join([h] * 600)"]) {
      const outcome = await run(`result = ${expression}\n`, { h: "a".repeat(1 << 20) }, longest);
      assert.equal(outcome.kind, "failed");
      if (outcome.kind === "failed") {
        assert.match(outcome.error.message, /elements is too long: the limit is 536870888/);
        assert.equal(outcome.error.kind, "resource");
      }
    }
  });
});
