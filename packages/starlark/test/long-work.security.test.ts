/**
 * Operations on large values: one call or operator must not block the event loop of
 * the host. The clock of these tests advances by a whole slice with every reading, so
 * an operation yields whenever it could, and the yields can be counted on a machine
 * of any speed.
 */

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextImmediate } from "node:timers/promises";
import {
  compileProgram,
  executeProgram,
  StarlarkError,
  Thread,
  type ThreadHost,
  toolDialect,
} from "@toolcrib/starlark";
import { slowTest } from "@toolcrib/testing";

interface Run {
  readonly ended: string;
  readonly steps: number;
  readonly turns: number;
  readonly value: unknown;
  readonly chargedBytes: number;
  readonly printed: readonly string[];
}

/** Runs `text`. Each reading of the clock adds `tickMs`. */
async function run(text: string, tickMs: number): Promise<Run> {
  const source = { name: "long.star", text };
  const { program, diagnostics } = compileProgram(source, { dialect: toolDialect, predeclared: [] });
  assert(program, JSON.stringify(diagnostics));
  let nowMs = 0;
  let turns = 0;
  const host: ThreadHost = {
    monotonicMs: () => {
      nowMs += tickMs;
      return nowMs;
    },
    nextTurn: () => {
      turns += 1;
      return nextImmediate();
    },
  };
  const printed: string[] = [];
  const print = (line: string) => printed.push(line);
  const thread = new Thread(host, { limits: { wallMs: 86_400_000 }, print });
  const counts = () => ({ steps: thread.steps, chargedBytes: thread.chargedBytes, turns, printed });
  try {
    const { value } = await executeProgram(thread, program, new Map());
    return { ended: "done", value, ...counts() };
  } catch (error) {
    assert(error instanceof StarlarkError);
    return { ended: error.traceback, value: undefined, ...counts() };
  }
}

/** The parts of a run that do not depend on time. */
function comparable({ ended, steps, chargedBytes, printed }: Run): unknown {
  return { ended, steps, chargedBytes, printed };
}

const graph = 't = ["a"]\nfor i in range(40): t = [t, t]\n';

/** Programs whose last operation is long, and the least number of times that it yields. */
const operations: readonly (readonly [name: string, source: string, turns: number])[] = [
  ["lower case of unusual letters", '("İ" * 2000000).lower()', 20],
  ["upper case of unusual letters", '("ß" * 2000000).upper()', 20],
  ["title case", '("a b" * 1000000).title()', 20],
  ["a test of title case", '("A B " * 1000000).istitle()', 20],
  ["a test of letters", '("é" * 2000000).isalpha()', 20],
  ["words from the right", '(" a" * 500000).rsplit(None)', 20],
  ["words from the left", '(" a" * 500000).split()', 20],
  ["parts", '("a," * 500000).split(",")', 20],
  ["lines", '("a\\n" * 500000).splitlines()', 20],
  ["white space at the ends", '(" " * 4000000).strip()', 20],
  ["a search for a long text", 'h = "ab" * 1000000\nn = "ab" * 500000 + "c"\nh.find(n)', 20],
  ["a membership of a long text", 'h = "ab" * 1000000\nn = "ab" * 500000 + "c"\nx = n in h', 20],
  ["a count", '("ab" * 1000000).count("b")', 20],
  ["a replacement", '("ab" * 500000).replace("b", "cd")', 20],
  ["a union of sets", "s = set(range(200000))\nx = s | s", 20],
  ["an intersection of sets", "s = set(range(200000))\ns.intersection(s)", 20],
  ["a set", "set(range(200000))", 20],
  ["a union of dicts", "d = {i: i for i in range(100000)}\nx = d | {-1: 0}", 20],
  ["numbered elements", "enumerate(range(200000))", 20],
  ["rows", "zip(range(200000), range(200000))", 20],
  ["the text of a shared structure", `${graph}str(t)`, 100],
  ["a shared structure printed", `${graph}print(t)`, 100],
  ["a shared structure in an error", `${graph}fail(t)`, 100],
  ["a shared structure in an f-string", `${graph}x = f"{t}"`, 100],
  ["a shared structure in a format", `${graph}x = "%s" % (t,)`, 100],
  ["a long text with escapes", 'repr("\\n" * 1000000)', 5],
];

suite("operations on large values", slowTest, () => {
  for (const [name, source, least] of operations) {
    test(`yield to the event loop: ${name}`, async () => {
      const slow = await run(source, 5);
      const setUp = await run(source.slice(0, source.lastIndexOf("\n") + 1), 5);
      assert.ok(
        slow.turns - setUp.turns >= least,
        `${slow.turns} turns, ${setUp.turns} before the operation`,
      );
      const fast = await run(source, 0);
      assert.deepEqual(comparable(fast), comparable(slow));
    });
  }

  test("builtins in a loop yield, although each one is short", async () => {
    const { turns } = await run('a = "AB" * 10000\nfor i in range(1000): a.lower()', 5);
    assert.ok(turns >= 10, `${turns} turns`);
  });

  test("builtins in a row yield, although each one is short", async () => {
    const { turns } = await run(`a = "AB" * 10000\n${"a.lower()\n".repeat(1000)}`, 5);
    assert.ok(turns >= 10, `${turns} turns`);
  });

  test("give the same results in one expression, in a function and in parallel", async () => {
    const { ended, value } = await run(
      `
a = "aB " * 20000
words = lambda s: s.split()
both = [set(range(40000)) | set([-1]), set(range(40000)) | set([-1])]
both[0].add("x")
def twice(s): return s.lower() + s.upper()
lengths = parallel([lambda: len(a.title()), lambda: len(str(list(range(20000)))), lambda: len(twice(a))])
checks = [
    len(words(a)) == 20000,
    (a.lower() + a.upper() + a.title())[:3] == "ab ",
    f"{a.lower()}{a.upper()}".count("AB") == 20000,
    "x" not in both[1],
    len(both[0]) == len(both[1]) + 1,
    lengths == [60000, 128890, 120000],
    [s.lower() for s in [a, a]] == [a.lower(), a.lower()],
    sorted([a, "b"], key=lambda s: s.lower()) == [a, "b"],
]
return checks
`,
      5,
    );
    assert.equal(ended, "done");
    assert.deepEqual((value as { items?: unknown }).items, new Array(8).fill(true));
  });

  test("throw their errors where they are called", async () => {
    const { value } = await run(
      `
def f():
    try:
        return set([[]] * 40000)
    except Error as e:
        return e.message
return f()
`,
      5,
    );
    assert.equal(value, "set: unhashable type: list");
  });

  test("repeat no output of their expression", async () => {
    const { ended, printed } = await run(
      'xs = list(range(50000))\nf = lambda: [print("b"), str(xs)]\ny = [print("a"), str(xs)]\nf()',
      5,
    );
    assert.equal(ended, "done");
    assert.deepEqual(printed, ["a", "b"]);
  });

  test("let fibers take the same turns on a machine of any speed", async () => {
    const source = `
log = parallel([lambda n=n: [len(("aB" * 30000 + str(n)).lower()) for i in range(20)] for n in range(8)])
parallel_map(lambda n: "a" * 1000000 + str(n), range(1000))
`;
    assert.deepEqual(comparable(await run(source, 5)), comparable(await run(source, 0)));
  });

  test("count the memory of an expression that is evaluated again", async () => {
    const parts = Array.from({ length: 20 }, (_, index) => `"a" * ${10_000_000 + index}`).join(", ");
    const { ended } = await run(`xs = list(range(50000))\ny = [str(xs), ${parts}]`, 5);
    assert.match(ended, /out of memory/);
  });

  test("count their memory while they are suspended", async () => {
    const { ended } = await run(
      's = "ж" * 12000000\nparallel([lambda: (s + "x").upper() for i in range(8)])',
      5,
    );
    assert.match(ended, /out of memory/);
  });
});
