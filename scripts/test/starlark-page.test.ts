/** The page about Starlark is correct: its programs run, and its examples have the documented results. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  compileProgram,
  executeProgram,
  jsonModule,
  mathModule,
  repr,
  StarlarkDict,
  StarlarkError,
  Thread,
  timeModule,
  toolDialect,
  type Value,
} from "@toolcrib/starlark";

const prose = readFileSync(join(import.meta.dirname, "../docs/starlark-language.md"), "utf8");

/** Returns the result of a program of the tool dialect, as `repr` writes it. */
async function run(text: string): Promise<string> {
  const predeclared = new Map<string, Value>([
    ["json", jsonModule],
    ["math", mathModule],
    ["time", timeModule],
    ["params", new StarlarkDict()],
  ]);
  const source = { name: "page.star", text };
  const { program, diagnostics } = compileProgram(source, {
    dialect: toolDialect,
    predeclared: predeclared.keys(),
  });
  assert.deepEqual(diagnostics, [], text);
  const thread = new Thread({ monotonicMs: () => 0 });
  const { value } = await executeProgram(thread, program!, predeclared);
  return repr(value, thread);
}

test("the programs of the page about Starlark run", async () => {
  const programs = [...prose.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  assert.ok(programs.length >= 3);
  for (const text of programs) await run(text);
});

test("the examples of the page about Starlark have the documented results", async () => {
  const examples = [...prose.matchAll(/`([^`\n]+)` gives `([^`\n]+)`/g)];
  assert.ok(examples.length >= 10);
  for (const [, expression, expected] of examples) {
    assert.equal(await run(`return ${expression}`), await run(`return ${expected}`), `${expression}`);
  }
});

test("documented errors of the page about Starlark occur", async () => {
  const check = (text: string) => assert.rejects(run(text), StarlarkError, text);
  await check("True + 1");
  await check('1 + "a"');
  await check('1 < "a"');
  await check('for c in "abc": pass');
  await check("x = {[1]: 2}");
  await check("xs = [1]\nfor x in xs: xs.append(x)");
  await check("x = {}\nx.a = 1");
  await check("try:\n    f = lambda n: f(n)\n    f(1)\nexcept:\n    pass");
});
