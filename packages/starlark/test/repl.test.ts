/**
 * Interactive sessions: globals that persist, incomplete texts, and errors.
 */

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  coreDialect,
  type Evaluation,
  jsonModule,
  ReplSession,
  repr,
  StarlarkError,
  toolDialect,
} from "@toolcrib/starlark";
import { nodeHost } from "./execute.ts";

type ReplOptions = NonNullable<ConstructorParameters<typeof ReplSession>[1]>;

/** The output of a prompt for one text. */
async function show(session: ReplSession, text: string): Promise<string> {
  let evaluation: Evaluation;
  try {
    evaluation = await session.evaluate(text, { isByLine: true });
  } catch (error) {
    if (error instanceof StarlarkError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  const { incomplete, diagnostics, value, thread } = evaluation;
  if (incomplete) return "...";
  const [problem] = diagnostics;
  if (problem !== undefined) return `${problem.severity}: ${problem.message}`;
  return value === null ? "" : repr(value!, thread!);
}

/** Checks rows of a text and its output, in one session. */
async function check(options: ReplOptions, rows: readonly (readonly [string, string])[]): Promise<void> {
  const session = new ReplSession(nodeHost, options);
  for (const [text, expected] of rows) assert.equal(await show(session, text), expected, text);
}

suite("ReplSession", () => {
  test("shows values, and keeps globals and functions", async () => {
    await check({ dialect: toolDialect, predeclared: new Map([["json", jsonModule]]) }, [
      ["x = 1\n", ""],
      ["x + 1\n", "2"],
      ['"text"\n', '"text"'],
      ["def f(n):\n  return x + n\n\n", ""],
      ["f(1)\n", "2"],
      ["x = 10\n", ""],
      ["f(1)\n", "11"],
      ["def f(n): return n\n\n", ""],
      ["f(1), x\n", "(1, 10)"],
      ["xs = []\n", ""],
      ["xs.append(x); xs\n", "[10]"],
      ["return x\n", "10"],
      ["json.decode('{\"a\": [1]}').a\n", "[1]"],
      ["len = 5\n", ""],
      ["len\n", "5"],
      ["# nothing\n", ""],
      ["", ""],
    ]);
  });

  test("waits for more lines of an incomplete text, and for an empty line after a block", async () => {
    await check({ dialect: toolDialect }, [
      ["def f():\n", "..."],
      ["def f():\n  return 1\n", "..."],
      ["def f():\n  return 1\n\n", ""],
      ["if f() == 1:\n  2\n", "..."],
      ["if f() == 1: print(1)\n", "..."],
      ["x = [1,\n", "..."],
      ["x = [1,\n\n", "..."],
      ["x = [1,\n\n2]\n", ""],
      ["x\n", "[1, 2]"],
      ['"""one\n', "..."],
      ['"""one\ntwo"""\n', '"one\\ntwo"'],
      ["try:\n  1 // 0\nexcept Error:\n  x = 3\n\n", ""],
      ["x\n", "3"],
    ]);
    const whole = await new ReplSession(nodeHost).evaluate("def f():\n  return 1\n");
    assert.equal(whole.incomplete, false);
  });

  test("survives errors, and keeps names that were bound before", async () => {
    await check({ dialect: toolDialect }, [
      ["x = 1; y = x // 0\n", "error: floored division by zero"],
      ["x\n", "1"],
      ["y\n", "error: global variable y referenced before assignment"],
      ["y = ]\n", "error: unexpected ']'"],
      ["nothing\n", "error: undefined: nothing"],
      ["x\n", "1"],
    ]);
  });

  test("allows loops and reassignment in the core dialect, without builtins of the tool dialect", async () => {
    await check({ dialect: coreDialect }, [
      ["x = 1\n", ""],
      ["x = 2\n", ""],
      ["for i in range(3):\n  x += i\n\n", ""],
      ["x\n", "5"],
      ["attempt\n", "error: undefined: attempt"],
    ]);
  });

  test("limits each text, and ends a cancelled one", async () => {
    const endless = "while True:\n  pass\n\n";
    await check({ dialect: toolDialect, thread: { limits: { steps: 1000 } } }, [
      [endless, "resource: out of steps: the limit is 1000"],
      ["1 + 1\n", "2"],
    ]);
    const session = new ReplSession(nodeHost, { dialect: toolDialect });
    const control = new AbortController();
    const running = session.evaluate(endless, { signal: control.signal });
    setImmediate(() => control.abort("enough"));
    await assert.rejects(running, (error) => error instanceof StarlarkError && error.kind === "cancelled");
    assert.equal(await show(session, "1 + 1\n"), "2");
  });
});
